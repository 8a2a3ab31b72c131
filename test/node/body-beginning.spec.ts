import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SOURCE = new URL('../../node/body-beginning.ts', import.meta.url).href
const CLOCK = new URL('../../lib/base/clock.ts', import.meta.url).href
const MB = 1_000_000

describe('the beginning of a body', () => {
  it('does not keep the memory behind each of its small chunks', async () => {
    const code = `
      import { systemClock } from '${CLOCK}'
      import { bodyBeginning } from '${SOURCE}'
      let most = 0
      async function* drops() {
        for (let at = 1; at <= 2_000; at++) {
          yield new Uint8Array(65_536).fill(97).subarray(0, 1)
          if (at % 500 !== 0) continue
          // The first collection frees its finds in the background, the second one waits for that.
          for (let collection = 0; collection < 2; collection++) {
            gc()
            await new Promise(setImmediate)
          }
          most = Math.max(most, process.memoryUsage().arrayBuffers)
        }
      }
      const { bytes, cut } = await bodyBeginning(drops(), { bytesMax: 2_000, ms: 300_000, clock: systemClock })
      console.log(JSON.stringify({ text: String(bytes), cut, most }))`
    const options = ['--expose-gc', '--conditions=development', '--input-type=module', '--eval', code]
    const { stdout } = await run(process.execPath, options)
    const { text, cut, most } = JSON.parse(stdout)
    assert.deepEqual([text, cut], ['a'.repeat(2_000), undefined])
    assert.ok(most < 20 * MB, `${most} bytes`)
  })
})
