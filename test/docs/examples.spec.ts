import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { ROOT } from './markdown.ts'

describe('the examples', () => {
  const run = promisify(execFile)
  const example = (name: string, ...args: string[]) => ['--conditions=development', `docs/examples/${name}.ts`, ...args]

  it('serve an API from a libp2p node and call it from code', async () => {
    const serving = spawn(process.execPath, example('serve'), { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = (await once(createInterface({ input: serving.stdout }), 'line')) as [string]
      const { join } = JSON.parse(line) as { join: string[] }
      const { stdout } = await run(process.execPath, example('call', ...join), { cwd: ROOT })
      const { status, answer } = JSON.parse(stdout) as { status: number; answer: unknown }
      assert.deepEqual({ status, answer }, { status: 200, answer: { loud: 'HELLO' } })
    } finally {
      serving.kill('SIGKILL')
      await once(serving, 'exit')
    }
  })

  it('test with a network of their own', async () => {
    await run(process.execPath, example('testnet'), { cwd: ROOT })
  })
})
