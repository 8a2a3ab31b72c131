import { useQuery } from '@tanstack/react-query'
import { queries } from '../../admin/queries.ts'
import { Copy } from './copy.tsx'

interface CommandProps {
  readonly children: string
  readonly what?: string
  /** Another node runs it, which has a profile of its own. */
  readonly isElsewhere?: boolean
}

/** The equivalent command line, with the profile of this node. */
export function Command({ children, what = 'the command', isElsewhere = false }: CommandProps) {
  // Uses cached data only, because unauthenticated pages show commands too.
  const { data: session } = useQuery({ ...queries.session(), enabled: false })
  const profile = session?.profile ?? 'default'
  const isPlain = isElsewhere || profile === 'default'
  const text = isPlain ? children : children.replace(/^souk /, `souk --profile ${word(profile)} `)
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
