import { Copy } from './copy.tsx'

/** The same by the command line. */
export function Command({ children, what = 'the command' }: { readonly children: string; readonly what?: string }) {
  return (
    <div className="command">
      <code tabIndex={0}>{children}</code>
      <Copy text={children} what={what} />
    </div>
  )
}

/** A word of a shell command: quoted where it has to be. */
export function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
