/**
 * Files that the real `sops` program wrote, with the test keys their authors published beside them.
 * Other recipients than the published one were taken out of the metadata, which no checksum covers.
 */

/** Key of {@link SOME_SECRET_YAML}: github.com/denis256/terragrunt-tests, issue-2103/keys.txt. */
export const TERRAGRUNT_KEY =
  "AGE-SECRET-KEY-1YQMYYAHGUU5VK67GKY6RM8YEKTW687RT9KPUG5X8FD0F988PCXKQXM8RMY";

/** github.com/denis256/terragrunt-tests, issue-2103/file.enc.yaml (SOPS 3.7.1). */
export const SOME_SECRET_YAML = `secrets:
    SOME SECRET: ENC[AES256_GCM,data:K+owLb+AfIViGh2vQHtvw3xANKNClzZkRGsn7EYptf2a9M7E4CRNW5Bc,iv:9kkXlTHS5D2SYDcEy6eyAMaNMXew++R6edi1i3DLywI=,tag:FP17yb3brPa9sA/O54PJcQ==,type:str]
sops:
    kms: []
    gcp_kms: []
    azure_kv: []
    hc_vault: []
    age:
        - recipient: age106dn94074uskzjua39h4v0ql89l528wrqp2f84xpcznpr9f6ye4q9k8hp8
          enc: |
            -----BEGIN AGE ENCRYPTED FILE-----
            YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBuZHdXa0lTNjZiRWwxamNC
            VVdZejczbzRaeFVNeTE2akZMZGtUeUw5RUQ0CllXSitCM2Z6OUFvUHRYN0g0WGhv
            L0Q5aTh0bmxtS1I1N2hPaHBoUHdpWGsKLS0tIG43RXc0MVd4RkxyOVlaWk1jTkp6
            YncxSk1TUmZnWDdHNXRLelRQNUd3dFkKNbKDdRZIP3ZrQLfxpyTdd0hb8/sY4Zg9
            po+DEMxHEGID5X5wakizYtNlxnI9VlBXtcQkEbt7eN4+GmMHGIEuLQ==
            -----END AGE ENCRYPTED FILE-----
    lastmodified: "2022-05-23T12:25:56Z"
    mac: ENC[AES256_GCM,data:KI7AAQ+v3RHAR51CxjFCQZhaQ4PVdjXIQxDM/tEwEjgan7qSNesb6xpK7Czhx4mFTUd+rdIcqW9nis4XniAxh5tM2z4G5qiEog3NvIieQi3v8dEn5It69I4KyPWmyqTp762tpPBlIE4tEL/PRZ90h9+uecTxgChFB83qwCGMnJI=,iv:OuaCnYu//MFSPUlvT9pC5+m6oA5TAft1mS9x9t2iZ0g=,tag:kOiUx8LQbdL+oHm7q5e5bg==,type:str]
    pgp: []
    unencrypted_suffix: _unencrypted
    version: 3.7.1
`;

/** Key of the files below: github.com/humphd/sops-age, key.txt ("used only for tests"). */
export const SOPS_AGE_KEY =
  "AGE-SECRET-KEY-1QXRVEJH9S4NQU0FPD6V79ESZQ8S6PXH3L8V40EVPTHFH6KNKD4DQ7SKC4P";

/** github.com/humphd/sops-age, tests/data/secret.enc.yaml (SOPS 3.8.1): every type. */
export const EVERY_TYPE_YAML =
  `secret: ENC[AES256_GCM,data:ME9a8+qqBCwXn0eqF010rw==,iv:uhdG6vcUoywenIi6EDaXDvyhWb/2Lv6kL4MiLdLb/kU=,tag:llVdEID432oMefr5T2tl2g==,type:str]
string: ENC[AES256_GCM,data:LNzAFGse,iv:g4HM7I6aFegw57M+BOiVAV5WncBM6MHW2UECAnFkjRo=,tag:PTFT1DrCt9SiLlspc14oBQ==,type:str]
int: ENC[AES256_GCM,data:Ag==,iv:7mZlIiottanvOoufMaIRtOYNmq0yr3E0HBbChYkB7sc=,tag:FSHs1hYNQEkBAFCRYbcEUw==,type:int]
float: ENC[AES256_GCM,data:xXzcgA==,iv:nfQv47XSb+3zRPL7hZPlxtPcfhdHfXDVVf28/DpoaZ4=,tag:1S0vEap4M1RvG61FhDOUmA==,type:float]
boolean: ENC[AES256_GCM,data:qw4M9Q==,iv:6nWrJg5eHsgOpxQsTX3Z3egkRFKeVi5UztF3ccd6Nqk=,tag:n7Dnj1JtcCKBr1JTAzhhpA==,type:bool]
complex:
  value: ENC[AES256_GCM,data:pMPbf0Sq8YbouaBiYGmbbA==,iv:KQQkVbKqwAq9ijals9CiA/WYrv1qTvLOTq3lM7QeCQI=,tag:2S1rFDGNpu8vIDcOOW88AA==,type:str]
  array:
    - ENC[AES256_GCM,data:dDBg,iv:yQOKyyjy49vtuYeAGmwug6Bgj+r/nGAAq028IXGswWw=,tag:Uk5/fV0k2ICcHPY7gJfMNQ==,type:str]
    - ENC[AES256_GCM,data:SBYe,iv:bAQvkNXxAJs+s5BTa1/pBhoHSdM2b7a9PsV7YDAv2+8=,tag:AI0LFWDSe8LPl44vZlYTDg==,type:str]
    - ENC[AES256_GCM,data:U5QgThs=,iv:tDwNdnTOGTRCqoVmD/csblAftp33T/U4u+XITLmp0F4=,tag:jPJGfNYoG14OHkJEKWpDcA==,type:str]
sops:
  kms: []
  gcp_kms: []
  azure_kv: []
  hc_vault: []
  age:
    - recipient: age1je6kjhzuhdjy3fqptpttxjh5k8q46vygzlgtpuq3030c947pc5tqz9dqvr
      enc: |
        -----BEGIN AGE ENCRYPTED FILE-----
        YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBEaC9kMkV4d3FCWHlKN0Iz
        dkxWVmwvSmpuckN5Uk56Tjd5Wm04NitDeVhvCm5sb21XT0taNnY2QlRXN3hXc1No
        UWxQWHFZZ0hBb1p3NkpFdCtzNllkRDAKLS0tIGdLZ1pOUFFPYURLK0VqMFJUYndn
        YVB0U2wwQ21yTmc3Vk5BcjdXQ200U3MKY1GCVhawMSYQnY+eOo9ke2VqL8RTmZ0o
        iejCbKsOPtPfT14MX5TLORf8EY9QOgbCJRwckqyRhpErLR0SKQiaFA==
        -----END AGE ENCRYPTED FILE-----
  lastmodified: "2024-03-25T22:08:10Z"
  mac: ENC[AES256_GCM,data:VkH/rv9tvy2qLc9IDt83tu1WSy4JhI4BNY40xmlIclT5c/+nThdSoc8HBBj75YSVFCrtdORHKZGiw+O32vTCiuAz43Cv82aklh6mr2WmSliqi66Db3170C6hcUaMyjQ42CoEUb5CTDtzICo9de2hBOaVXHoqCOhfDblnn+YuG3g=,iv:tYmXV04d324Jb1Hg5XCmfMtn6yKl4dZEBjDHHSn5Fz4=,tag:Ohp2Jqo4f862lLFdE3bhzg==,type:str]
  pgp: []
  unencrypted_suffix: _unencrypted
  version: 3.8.1
`;

/** github.com/humphd/sops-age, tests/data/secret.enc.env (SOPS 3.8.1). */
export const SECRET_ENV = String
  .raw`secret=ENC[AES256_GCM,data:5OHzCogID5WTVZhe7LgUHg==,iv:bElDePWfYyYqXtqEjtXIAPVLk5z3VhTDW9syGx8GQG0=,tag:8fbUuEYYQbg8hG0AIPNpvw==,type:str]
another_secret=ENC[AES256_GCM,data:Pg==,iv:D/Tx/VPRJt2lbzncDUDYdba/mDtMDQZOroEyq/80wNQ=,tag:Dbz9C58/pCtwH4papKqLqg==,type:str]
sops_age__list_0__map_enc=-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBsRysvQ0tKOFdzSlpmUEF6\neTU5d1Vmc0Y5WG8rQjd3ekg5TUc1QXNXUHdzCm5LUWlZVmRaYUJHMEd5OFhrOCtl\nRUVmOUcrQ2REb3lTT0xiTVlEUlhORVEKLS0tIDVVbjRycEhWNGM4RFRPR2w2KytN\nMjdWZmlFL3lMUE1xQVA2WTgybmZhcWsKdhw0fbmvraETMYhbJhziNVRDy5r0A7HZ\nqaw9FCv6UK0rhQUfT5IIx1qFShYTzZFHg5qfdJ9xOaGZOOi1XljcRQ==\n-----END AGE ENCRYPTED FILE-----\n
sops_age__list_0__map_recipient=age1je6kjhzuhdjy3fqptpttxjh5k8q46vygzlgtpuq3030c947pc5tqz9dqvr
sops_lastmodified=2024-03-26T00:43:54Z
sops_mac=ENC[AES256_GCM,data:D3ihKMHL3PQMgY4bMJFvOyGuFtxJtu3+qhFE7mo34g8P3UJuxcnDyFsdun1bBlAgeLqUW0cd/SrDRPUlfiRleCKPCCe/ebhMLnlGSC6wX9Pld2IPAsFw1SGO8s/Oxq9MVoycFLV9cjERWqyaq/VoLCyXa+BNkjBYpKZC+slBinA=,iv:1I2pNcb6ZzqMNU409HL0C7FWOEvjQr3Q0IhXXTlZQek=,tag:JHVGx4Ie7fMVLVZqAmYkWw==,type:str]
sops_unencrypted_suffix=_unencrypted
sops_version=3.8.1
`;

/** github.com/humphd/sops-age, src/data/secret.enc.json (SOPS 3.8.1). */
export const EVERY_TYPE_JSON = String.raw`{
  "secret": "ENC[AES256_GCM,data:s0/KBsFec29XLrGbAnLiNA==,iv:k5oP3kb8tTbZaL3PxbFWN8ToOb8vfv2b1EuPz1LbmYU=,tag:n1RlTSRKGgoB909D4I3n+A==,type:str]",
  "string": "ENC[AES256_GCM,data:aJs3s1nk,iv:aoqpnybhdwOy7DpWrZN4j/cuJajploVuVHWY90+TN+4=,tag:clb0yzj9gvJSvKmGFhlk5g==,type:str]",
  "int": "ENC[AES256_GCM,data:tw==,iv:EfxGN7bBlnxjmwfqgWSJzjx6tyY67Tu62QcAzYp8R7s=,tag:iNCbcJiR9wXRJsRB/EtxRQ==,type:float]",
  "float": "ENC[AES256_GCM,data:Y43s8Q==,iv:4K46qNKCVREzln4gIF6+8wxevGsJOE6BP8E6ETmmGQM=,tag:FT0x9dR+0M8Dziv3wbSSYw==,type:float]",
  "boolean": "ENC[AES256_GCM,data:v3uLjw==,iv:XgmPovz5l2kboO+k8THMXoaB0/BYHahAqKp/tu7N4qc=,tag:dbV1aANN0do7n3TZsRTdmA==,type:bool]",
  "complex": {
    "value": "ENC[AES256_GCM,data:ub5SNpHF6BJ2hH0m3dxp7Q==,iv:VE7cCLTy+730qTY089K8w2G7ANhVqC/m6LI1SjxQja0=,tag:c9yun105kA478EzyzOlKUw==,type:str]",
    "array": [
      "ENC[AES256_GCM,data:NzVC,iv:uxfOz2L4/uH0KYyrOhd/Ki+xvBiSCe+ZR25HcZB+HXU=,tag:5w0FkarcFXEjU2+MyuKXgQ==,type:str]",
      "ENC[AES256_GCM,data:Dsgw,iv:IU6EGLHrAe58vSqWBI7J2zEf+m5iiwERNcuFvhHkTyE=,tag:yHHcXI443XdBrkL9KUPU9w==,type:str]",
      "ENC[AES256_GCM,data:ZnzB2XU=,iv:xorfY0yMH3y8zCcXi9ShoqVIWyXSoXRIcy4Dd6NmM7M=,tag:CJm51zzzmHhymF+UnplgwA==,type:str]"
    ]
  },
  "sops": {
    "kms": null,
    "age": [
      {
        "recipient": "age1je6kjhzuhdjy3fqptpttxjh5k8q46vygzlgtpuq3030c947pc5tqz9dqvr",
        "enc": "-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBvNmhIQkw4aFdpWUR5eVRO\nOVlZZ1htUGJWUHp3MnBVamxxTERmc1M0alJvCm5KSVNqWUJiT0V0TElvRVJsdVVW\nR2FvTEU1Rmw0bzdrYWFXQzQrUkJseHcKLS0tIHh1TjRSK2NMYjNHU004MXpWTHRJ\nWW83TmsxTU5MZkp2VExpcmhhWkNLMkEK33Somr22bQHbxPwIdv1Fjft5hKP5ZYy6\nmsBufbrcR3lV43k2lMI5fyKZA7G7PlVcHruIkfH9mI+NGQHDb3rscQ==\n-----END AGE ENCRYPTED FILE-----\n"
      }
    ],
    "lastmodified": "2024-03-25T21:55:35Z",
    "mac": "ENC[AES256_GCM,data:KzBF4aA4+qF2G6wRY0QrKC3Qn8FHHNhDCefz31T8zUtbjPOwt/+G4dGAznxyieFuKCXjxpuUkZ9D+EnE993fQiPh+psFo8IjE8txxTrIcAQTqR9jtBeSF7RtkZNPy28uTyqu0kpjEEzQYJ67Pu+GWYkoCGnCaEzn+++Ji+fLjhY=,iv:gE5PMg2oG26XJgP3h+Yy+WQg6akGuXRc3bDvclRm+P8=,tag:558NOfo1asyETDKFe1dp/g==,type:str]",
    "pgp": null,
    "unencrypted_suffix": "_unencrypted",
    "version": "3.8.1"
  }
}
`;

/** github.com/humphd/sops-age, src/data/secret.enc.ini (SOPS 3.8.1). */
export const SECRET_INI = String
  .raw`secret = ENC[AES256_GCM,data:lqBKPgtSKHgUIdEz9x1rbA==,iv:mzSoH/7XrD1u12bvJ9hgTJMG4JY68Y7Lv13+4hO08Xg=,tag:cC3Cm4bwlSlilJm6GkxPXw==,type:str]

[complex]
string = ENC[AES256_GCM,data:rrCuH5h+,iv:1e/nDuSgbiqKG7TeqcTjH5dsD2rPyVcLWQDXTOr2tzI=,tag:QJOXdlT9sWgpzQkZD+Cqbg==,type:str]

[sops]
age__list_0__map_enc       = -----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBNRDc0K0p5djI3ck1sbEhQ\nRmpWRlBqRFl0aFBtcHZncHh3YURZRnBMQ0VVCkgwVllOM0dGMnhpR3N1enJRQ1hF\neVJKS3FvYUhoN2NoZGRnNVlTSW1ac1kKLS0tIGlBbHBrR21XRjV1UnkyYVRrR1d1\nL2xrbHVIVXJlb0pGaU5DQkpiQjVKK00Kw5tUnfEQnd5Kwx1xeSVOPLaM86mrbc2O\nhAzPpeJen/ImvNnLzsmcku0igfOiW2/7KCm1JXPz47+n1mSG6mQXsA==\n-----END AGE ENCRYPTED FILE-----\n
lastmodified               = 2024-03-26T00:24:08Z
unencrypted_suffix         = _unencrypted
age__list_0__map_recipient = age1je6kjhzuhdjy3fqptpttxjh5k8q46vygzlgtpuq3030c947pc5tqz9dqvr
mac                        = ENC[AES256_GCM,data:8f+bmm52W3ojX6ePiFhRS/qser+IL6fwhsHFjC9DA1cvH7C8VhzIvfCjVqtPJdOc24H/JiqGVCYstTEVsnpPvmwJ5Rrx0mmQuD8Fn9BdxJ2ZSbWkUlZeBWslLr4fZ52xqw8bWCjjMlFUhrFD8B4mCMWnRXTVH4ROxuH2IVn/JTg=,iv:FRRV7xbs1hXf1iTnoNk63xQU6M1FrvcPd/hDZ3XB65E=,tag:Ffeu97vHOCL2OLA++5GY0w==,type:str]
version                    = 3.8.1
`;

/** Key of the files below, made for them. */
export const COMMENTS_KEY =
  "AGE-SECRET-KEY-14D56F6YG8DVHQU7QNPUXA3KAQZ2YWDH7P0ENLUZCFXLU2PD9ZRNS59NGYL";

/** Lists with comments (SOPS 3.13.3). */
export const LIST_COMMENTS_YAML = `list:
    - ENC[AES256_GCM,data:7SC+USHBIcpnM3H1wm50PyA=,iv:FyuAVR7ZKniRzcBy52j6xKIrzfT0T1TRG97Hggh1xL8=,tag:xGcz9y1RtrFECpp6xR8lUQ==,type:comment]
    - ENC[AES256_GCM,data:mw==,iv:7PkCkkabF8D/PB8VMp1ESImOU6smHkSK78eRImAghBU=,tag:wfWs6FKMD54PNXMuXvibrQ==,type:str]
    - ENC[AES256_GCM,data:Wknuug==,iv:JiLp7CBj8bBJhLfE04KfeK+tHEVbuSpB1U7+OuR7le8=,tag:T/kgV87/VMjViRdrbaIuuw==,type:comment]
    - ENC[AES256_GCM,data:iANoxbqlexdFuJJ/fZMopw==,iv:jFuS75YnDhULBvi5t72gO/N7t7S/qDi8THCu4jKUEa8=,tag:ZNxezZKkuLN2ETyhI/ineg==,type:comment]
    - ENC[AES256_GCM,data:rjwYRD1zhw==,iv:K27MhlNQC/iiq3m7sVVfoiDKtfKSQnZ7fHMhHJYdUoU=,tag:y1vgTMcK/VVAm5Sz5FlgYw==,type:comment]
    - ENC[AES256_GCM,data:Tg==,iv:L0yUO1Tg0NyOClyhv2yZQbvI2qAi09UmxBeg42huE/8=,tag:It5t+DE4V9rg/qdYvuQQzA==,type:str]
    - ENC[AES256_GCM,data:kNS2Tk0=,iv:vPWoSyJgxibhFelEfORnlFBeBe2FD8O2xcxgXqgxoug=,tag:OrKQoK8qafd43/pY+eaAAQ==,type:comment]
maps:
    - ENC[AES256_GCM,data:5MJiLNTiIXujPEgHvQ==,iv:1Aq1quD05dM3ge4VNwuLgD5GBki/l40/9IkfysmyN68=,tag:cPzEjZt7NTicLXNeJMDPWg==,type:comment]
    - k: ENC[AES256_GCM,data:Gg==,iv:JJhWl1quVyi6eikO9K3yXz5KhrGRMWicuRHMfQFYdGo=,tag:TKVO1y/QCqRejYkWRpos/Q==,type:int]
    - ENC[AES256_GCM,data:fT5PRHxHCILTIdUqvQ==,iv:vbKJoOXp6EIzK/46A6SE2SVaSgjYN17pdxcbm/Paq5Q=,tag:DAcxmqjnid9QXA6Y5wta/Q==,type:comment]
    - k: ENC[AES256_GCM,data:Iw==,iv:M/7dSiBaApmQV/iw9BL7dPXh2+xbnkbEFopWquAtX+o=,tag:rBkaJk32gjRUy19fQ1Tb7A==,type:int]
      #ENC[AES256_GCM,data:xo5+fvOC7sdh,iv:0X7sGqLSp84lDHMET9HoAa7KFa+zt3mbrDdoVg0qLPI=,tag:EdHhwnxFLOCIZEzbbu63bw==,type:comment]
      l:
        - ENC[AES256_GCM,data:IdLDhcWurhlkRl6+IXG1hdCXIf1YGes=,iv:TFTKRaV46gvcGY7KkjhbKsw7owiwCtBkSr9E4BAHxeU=,tag:vopc3KZkJ2vJmZSXucTyhA==,type:comment]
        - ENC[AES256_GCM,data:oA==,iv:1a3DQEsppcF/p0gIn7eP5Cc2QGs0zz77vHBWHX1YKEo=,tag:wV5FodceGLD4Fz6bsxfxjA==,type:int]
nested:
    - - ENC[AES256_GCM,data:x5u6NydU,iv:qQ9yPfPuUWiwXuxuQcIPoHBccsVP1HoQv6VZWIhK5bY=,tag:8ognsK+hKxcsruF/UBpRgw==,type:comment]
      - ENC[AES256_GCM,data:+A==,iv:VHFN+jPN1WAI1pu7O/aKTdqIwZm4K9xH1MNW6GIPpQ4=,tag:ks2tIpBIMzvgqY9YliCF/Q==,type:str]
    - []
nulls:
    - ENC[AES256_GCM,data:3fJ/jXDsDZwVeBLJ,iv:SxE1QXKhBvLSDn8DGwm3LywtZ/plpK8fzaTC/S56Fvc=,tag:fIOXNk8UjKbrlA8kENnQzg==,type:comment]
    - null
image:
    - ENC[AES256_GCM,data:3vK4DVsJyexWqTYYIdXMcg==,iv:UrXfDI8z1JYk3VQ7DIFghv3I8ec2lKishR183bItgA8=,tag:mSessP2wjyLE0LPsc59Rbw==,type:comment]
    - ENC[AES256_GCM,data:hQ==,iv:CadQm2cJh1o9eujXAMfXoXbiD3WrzL56bWXIXf8ItuM=,tag:ViwqhVv4M88UJ2fECZH7mg==,type:str]
open_unencrypted:
    # open
    - 4
sops:
    age:
        - enc: |
            -----BEGIN AGE ENCRYPTED FILE-----
            YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBjeElFTWRIbU95eGNjVERR
            NWN0enZMSVdvWHV2eFVLNk93b3ZKaHM0ZGtBClZTRktQM2JVRUlBV21zL0VUK2c1
            dHA0amN0MnRDZnNjWFZoQTMxZ3hZbmcKLS0tIG1vcS93aXE2WVhrcjlxYTI1YjVq
            QmRzZ1JtOWh4RWpJN0hmK2RCNEFpeDAKkQnKHk0lB1P/PZgffTsbkfTsOTViJr+T
            k9UE58FIO3nflnr3Ha1On5+wr9rizLTX2qG3xmpgqqhCiZUHGk7qcQ==
            -----END AGE ENCRYPTED FILE-----
          recipient: age1gmyun9u4d4r37j5p7glt28tvzc956a7td0kstlyc9zqkgaky3s7sz6mq06
    lastmodified: "2026-11-27T09:42:44Z"
    mac: ENC[AES256_GCM,data:uWj+XJjjFW3cjAUHedZc1K+rKyMBEp5tZVjIPcS9PAStlN72Jk3SO+aeEwyWFq8ZRm62gdChSGpXhzw2Kg4pibKRy1ZBDhAIBqcOhITpfmCcUFdOD76uDbvNn8acFuuGig3zpOMLyAak8y/PIAwiSHtjoaiHvWn0U05svThRhec=,iv:ARZFRcqx9DSOISll3vCPISZQG5xr0fkO0aILSBvcT34=,tag:jGbaolj6KRCZtjHG/79Zjg==,type:str]
    unencrypted_suffix: _unencrypted
    version: 3.13.3
`;

/** The same, read as YAML and written as JSON (SOPS 3.13.3). */
export const LIST_COMMENTS_JSON = String.raw`{
	"list": [
		"ENC[AES256_GCM,data:7Aeeue0Wn1ENHz0YzWgk150=,iv:259ng3cJOmy6lI3NwD1PMi76tS/EZzXLZ3UbivmEnlo=,tag:pBhyDkforKglr6wvxLJBIw==,type:comment]",
		"ENC[AES256_GCM,data:Sw==,iv:FLNElVQTGzqL80VIBg0LqmJxJZYXzxg7rEzDFPlf4bk=,tag:W5ov+zn5zsm9hh6kxh0U0Q==,type:str]",
		"ENC[AES256_GCM,data:EGD7ww==,iv:imTFYHjII1HemGykFGaori1iVL9bqftwiyP1bz6vXaQ=,tag:/X5AvW2ED4L6VkH8DOQEuA==,type:comment]",
		"ENC[AES256_GCM,data:JFQU25MPd7Ae4QOZjJpZBQ==,iv:ygu5ASPusDmj5A0Zc3aJeSlyzhRhUSZ4DkJxTRJ2nUM=,tag:N4SA3TaewlTMT5umUrDbHg==,type:comment]",
		"ENC[AES256_GCM,data:0kMgckc5dA==,iv:H/hheSfq/SxxUuNyfPMX2CaptEI1YYuilUJFmr8el4E=,tag:EHcCOFDqJ+LJhyfion3D5A==,type:comment]",
		"ENC[AES256_GCM,data:Aw==,iv:VyR4uc3yk4wy/lOVWSQN2G992RAfaI+QJmzyiQne30I=,tag:yIUnN+1vM35ZWp3nVgYAhg==,type:str]",
		"ENC[AES256_GCM,data:vKUErIA=,iv:xlkIThjV7SEFg0l1twmVaXV5nGSplioE+k5IZL3eycY=,tag:sf7It3WtskNdlAz/xSa50g==,type:comment]"
	],
	"maps": [
		"ENC[AES256_GCM,data:S1JmAiM/K2Wt6Ku5Mw==,iv:UcKPTB2go2TGCbQBghZcx28AKyQH+erS9jszLwPwtMA=,tag:AxPyxHmNAbKc0MPPuktHrw==,type:comment]",
		{
			"k": "ENC[AES256_GCM,data:5Q==,iv:O9vea9Q6K1Qbw8VCrqGgfLmO9nW5ejTZAm9+C23MVP0=,tag:KVjTSkDHhm1RCyh2PUDTGA==,type:int]"
		},
		"ENC[AES256_GCM,data:1WSEs/v2VVyCEEol3Q==,iv:lrqgyEg8BXxc5bi5uae6VoXooxisyCmlxAqnoCQeBZg=,tag:cSbG+bQF/4k3NfMbf0uY9w==,type:comment]",
		{
			"k": "ENC[AES256_GCM,data:Ng==,iv:TvllKzIeV7yDQMQnqImuNjT7bM+Y9LUSuPWAwgoqHLE=,tag:YayZg6c/v0W0biS4d1OIfg==,type:int]",
			"l": [
				"ENC[AES256_GCM,data:/BR81KB/a13zJhE//6rnauqLH8JidHA=,iv:NBeqazOEqbj6TkpnfeICsrILDH3XJcoNqk5svxEKmrQ=,tag:LJ7LZLnYSwCEPKWSyRaFGw==,type:comment]",
				"ENC[AES256_GCM,data:hQ==,iv:WJsvbaNujowr6a9P4ghiArnqeLHbJ3rES7GLgIqZDXg=,tag:bC6orShQUJnA3f660jm1GA==,type:int]"
			]
		}
	],
	"nested": [
		[
			"ENC[AES256_GCM,data:IhP6QaxG,iv:rbAFb6VxMv4t0YaVm5eHHQZvinw6reIYNdA7/1lWbEI=,tag:xzYDVMnRKgd5PR4K7Nwj3g==,type:comment]",
			"ENC[AES256_GCM,data:RQ==,iv:OGprEkXtIu3/aS4T2N/MoDJeQ5Tdeio795imEdABATE=,tag:h/+9kRjgP1Y9ixFa8jGnTg==,type:str]"
		],
		[]
	],
	"nulls": [
		"ENC[AES256_GCM,data:+u4QcY98lz2U9dmi,iv:cD2YHSB/EomoE5LOs7HRmLYvIV8rvBSm182Fn05CSUc=,tag:pntFPkANW6bqn4Kr8iQxwQ==,type:comment]",
		null
	],
	"image": [
		"ENC[AES256_GCM,data:iHWE3oegUhQ+rE5YbKPHAw==,iv:DsuTyhzZhhMln1WkEgZTlRJ5bQV93OISyPsTmCclybk=,tag:6GuSnK4uEcnbrZldOQ9b+A==,type:comment]",
		"ENC[AES256_GCM,data:ZA==,iv:llH3owF7wVICRf/3CbVO8/NYWzoD1jd6svuq0CVu1X4=,tag:LmYUC5S6nhEDEVKYglRNVg==,type:str]"
	],
	"open_unencrypted": [
		4
	],
	"sops": {
		"age": [
			{
				"enc": "-----BEGIN AGE ENCRYPTED FILE-----\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSB2d1dSYzRPYnR0aHBDUVkr\nZXpBMmFBYlFhZCtZNXlUYjVidWFXeDkyMGo4CllnRlZOV0hQaXJicFd3cjg3K1dC\nbGhqcThaVzk4M256YXpsdktJeWNmNEkKLS0tIHhocEUrVFB6QkRSK2RPcFA5Wm41\nQklUKzA0Q1hUYTNST3NodFBQbWtwbXcKtVzaUCN4XRkV9pf73KXaaZe/j9GiqX6R\nvNPXU7LpnrVJdUxvTJCK3qo0SOFZTiAwwbUH137MpBZ08kWdrlpYUA==\n-----END AGE ENCRYPTED FILE-----\n",
				"recipient": "age1gmyun9u4d4r37j5p7glt28tvzc956a7td0kstlyc9zqkgaky3s7sz6mq06"
			}
		],
		"lastmodified": "2026-11-27T09:42:44Z",
		"mac": "ENC[AES256_GCM,data:mFv3EE3DoRquxNXWtAEvHYCoLDRPHueE4Qy99ipM8lWlwqHXxSn+w9gXRWpo5RBkZ928oxm5GsSQCzDdl8d5cV8oS9jIsd2C9DYzInHSuk4nbKJomA2zftW0pIw8SmlQ3YCFo3IRmvDPxUXhfl9VpJrVJ0hUa+Udy5cvBn+Qbyk=,iv:62o2bJqcmZcNdVYYBRbdAx5L3P58v/z7gUIVzfWLd90=,tag:Iz0Z8rx9alTFHhXLDDA6dA==,type:str]",
		"unencrypted_suffix": "_unencrypted",
		"version": "3.13.3"
	}
}
`;
