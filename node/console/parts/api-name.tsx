/** Shown characters of a provider's id: enough to recognise it. */
const SHOWN_CHARS = 6

/** `name@provider` with a shortened provider id. The `title` holds the full id. */
export function ApiName({ id }: { readonly id: string }) {
  const [name, provider] = id.split('@')
  return (
    <span className="api-name" title={id}>
      {name}
      {provider !== undefined && <span className="quiet small id">@…{provider.slice(-SHOWN_CHARS)}</span>}
    </span>
  )
}
