/** Containers by the places of their services in `order`; those of other services come first. In any number. */
export function inServiceOrder<Container extends { readonly service: string }>(
  containers: readonly Container[],
  order: readonly string[],
): Container[] {
  const places = new Map(order.map((service, place) => [service, place]));
  const placeOf = ({ service }: Container) => places.get(service) ?? -1;
  return containers.toSorted((a, b) => placeOf(a) - placeOf(b));
}
