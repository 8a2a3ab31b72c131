import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'

/** A key that was just made. */
export function ShownOnce({ value, onClose }: { readonly value: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The key, this once" onClose={onClose}>
      <p>Keep it now: it is not shown again. Send it as the header X-Consumer-Key.</p>
      <Command what="the key">{value}</Command>
      <Button look="first" onClick={onClose}>
        I have it
      </Button>
    </Dialog>
  )
}
