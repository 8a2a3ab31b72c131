import { Link } from 'wouter'

export interface Tab {
  readonly path: string
  readonly name: string
}

/** Tabs of one page. Each tab has its own URL. */
export function Tabs({
  label,
  tabs,
  at
}: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly at: string
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ path, name }) => (
        <Link key={path} href={path} aria-current={path === at ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  )
}
