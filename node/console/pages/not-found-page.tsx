import { Link } from 'wouter'
import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function NotFound() {
  return (
    <Page title="Nothing here">
      <Empty
        title="The console has no such page"
        action={
          <Link href="/" className="button first">
            To the overview
          </Link>
        }
      >
        The URL may be from an older version.
      </Empty>
    </Page>
  )
}
