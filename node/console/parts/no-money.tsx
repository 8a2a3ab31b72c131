import { Command } from './code/command.tsx'
import { Empty } from './empty.tsx'

/** Shown instead of pages about money if the node has no wallet. */
export function NoMoney() {
  return (
    <Empty title="This node moves no money" action={<Command>souk wallet create</Command>}>
      It has no wallet, or it only counts calls (--payment-scheme metered). Create a wallet, then start the node again
      with: souk up
    </Empty>
  )
}
