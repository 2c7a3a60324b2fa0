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
