/** Of a provider's id: what people tell it by. */
const SHOWN_CHARS = 6

/** `name@provider`, the provider as short as can be told. Whole for whoever looks closer. */
export function ApiName({ id }: { readonly id: string }) {
  const [name, provider] = id.split('@')
  return (
    <span className="api-name" title={id}>
      {name}
      {provider !== undefined && <span className="quiet small id">@…{provider.slice(-SHOWN_CHARS)}</span>}
    </span>
  )
}
