import { createMemoryNetwork } from '../../../lib/link/memory-link.ts'
import { peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { linkSuite } from '../../suites/link.ts'

linkSuite('the memory link', async () => {
  const clock = manualClock()
  const network = createMemoryNetwork({ clock })
  const [a, b] = [network.link(peerId('A')), network.link(peerId('B'))]
  return {
    a,
    b,
    address: ({ self }) => ({ id: self, addresses: [] }),
    nobody: { id: peerId('N'), addresses: [] },
    start: async () => void (await Promise.all([a.start(), b.start()])),
    advance: (ms) => clock.advance(ms),
    dispose: async () => {
      network.cut(a.self)
      await Promise.all([a.stop(), b.stop()])
    }
  }
})
