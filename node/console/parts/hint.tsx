import { Command } from './code/command.tsx'

/** A hint of the doctor: a command to copy, or a sentence. */
export function Hint({ children }: { readonly children: string }) {
  return children.startsWith('souk ') ? <Command>{children}</Command> : <p className="quiet small">{children}</p>
}
