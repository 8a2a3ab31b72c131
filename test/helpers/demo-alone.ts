import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const DEMO = resolve(import.meta.dirname, '../../node/demo')

/** Starts `node/demo/<name>.ts` in a separate process, and waits for the line with its URL. */
export async function demoAlone(
  name: string
): Promise<{ url: string; end(signal: NodeJS.Signals): Promise<number | null> }> {
  const child = spawn(process.execPath, [join(DEMO, `${name}.ts`), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(() => assert.fail(`${name} ended before it was ready`))
  ])) as [string]
  return {
    url: (JSON.parse(line) as { url: string }).url,
    async end(signal) {
      child.kill(signal)
      const [code] = await exited
      return code
    }
  }
}
