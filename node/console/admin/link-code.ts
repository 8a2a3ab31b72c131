const CODE = /^#code=([0-9A-Za-z-]{8,12})$/

/**
 * The setup code of a link by `souk console`. It is in the fragment, which browsers do not send to servers. Removed from the address at
 * once, so that it stays neither in the history nor in a bookmark.
 */
export function takeLinkCode(): string {
  const code = CODE.exec(location.hash)?.[1] ?? ''
  if (code !== '') history.replaceState(history.state, '', location.pathname + location.search)
  return code
}
