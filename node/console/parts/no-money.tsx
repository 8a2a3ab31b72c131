import { Command } from './code/command.tsx'
import { Empty } from './empty.tsx'

/** Shown instead of pages about money if the node has no wallet. */
export function NoMoney() {
  return (
    <Empty title="This node moves no money" action={<Command>souk wallet create</Command>}>
      It has no wallet, or was told to count calls only. Make a wallet, then start it again with: souk up
    </Empty>
  )
}
