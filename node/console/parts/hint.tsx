import { Command } from './code/command.tsx'

/** What the doctor advises: a command to be copied, or a sentence. */
export function Hint({ children }: { readonly children: string }) {
  return children.startsWith('souk ') ? <Command>{children}</Command> : <p className="quiet small">{children}</p>
}
