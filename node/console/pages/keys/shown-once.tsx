import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'

/** Shows a new key, once. */
export function ShownOnce({ value, onClose }: { readonly value: string; readonly onClose: () => void }) {
  return (
    <Dialog title="The key, this once" onClose={onClose}>
      <p>Copy the key now: it is not shown again. Programs send it in the header X-Consumer-Key.</p>
      <Command what="the key">{value}</Command>
      <p className="quiet small">For the sample code on the marketplace pages:</p>
      <Command what="the line for a shell">{`export SOUK_KEY=${value}`}</Command>
      <Button look="first" onClick={onClose}>
        I have it
      </Button>
    </Dialog>
  )
}
