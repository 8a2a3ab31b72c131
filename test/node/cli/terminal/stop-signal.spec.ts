import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const STOP_SIGNAL = new URL('../../../../node/cli/terminal/stop-signal.ts', import.meta.url).href

describe('stop signals', () => {
  const started = async (afterFirst: string) => {
    const child = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      `const { stopSignal } = await import(${JSON.stringify(STOP_SIGNAL)})
       const alive = setInterval(() => {}, 1000)
       const stopped = stopSignal()
       console.log('running')
       await stopped
       ${afterFirst}`
    ])
    await once(child.stdout, 'data')
    return child
  }

  it('takes two signals of one stop as one, as timeout(1) sends them', async () => {
    const child = await started(`console.log('stopping'); setTimeout(() => process.exit(0), 200)`)
    child.kill('SIGTERM')
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'close'), [0, null])
  })

  it('ends the process at once by a later signal', async () => {
    const child = await started(`setTimeout(() => console.log('later'), 600)`)
    child.kill('SIGINT')
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    assert.deepEqual(await once(child, 'close'), [null, 'SIGINT'])
  })
})
