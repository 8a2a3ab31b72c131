import { useQuery } from '@tanstack/react-query'
import { queries } from '../../admin/queries.ts'
import { Copy } from './copy.tsx'

/** The equivalent command line, with the profile of this node. */
export function Command({ children, what = 'the command' }: { readonly children: string; readonly what?: string }) {
  // Uses cached data only, because unauthenticated pages show commands too.
  const { data: session } = useQuery({ ...queries.session(), enabled: false })
  const profile = session?.profile ?? 'default'
  const text = profile === 'default' ? children : children.replace(/^souk /, `souk --profile ${word(profile)} `)
  return (
    <div className="command">
      <code tabIndex={0}>{text}</code>
      <Copy text={text} what={what} />
    </div>
  )
}

/** Quotes a word of a shell command if necessary. */
export function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
