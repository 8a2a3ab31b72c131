interface Page {
  /** An older node lists everything at once, and sends no `next`. */
  readonly next?: string | null
}

/** All pages of a list of the admin API; at least one. */
export async function allPages<P extends Page>(
  ask: (cursor: string | undefined) => Promise<P>
): Promise<readonly [P, ...P[]]> {
  const pages: [P, ...P[]] = [await ask(undefined)]
  for (let { next } = pages[0]; next !== null && next !== undefined; ) {
    const page = await ask(next)
    pages.push(page)
    ;({ next } = page)
  }
  return pages
}
