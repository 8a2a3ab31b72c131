import { useQuery } from '@tanstack/react-query'
import { queries } from '../../admin/queries.ts'
import { Copy } from './copy.tsx'

/** The same by the command line, of this node's profile: another one would be another node. */
export function Command({ children, what = 'the command' }: { readonly children: string; readonly what?: string }) {
  // What is known already will do: also who is not let in yet sees commands.
  const { data: status } = useQuery({ ...queries.status(), enabled: false })
  const profile = status?.profile ?? 'default'
  const text = profile === 'default' ? children : children.replace(/^souk /, `souk --profile ${word(profile)} `)
  return (
    <div className="command">
      <code tabIndex={0}>{text}</code>
      <Copy text={text} what={what} />
    </div>
  )
}

/** A word of a shell command: quoted where it has to be. */
export function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
