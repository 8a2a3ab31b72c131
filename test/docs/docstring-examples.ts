import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { read, ROOT } from './markdown.ts'

/** An `@example` block above an exported declaration. */
export interface DocstringExample {
  readonly name: string
  readonly path: string
  readonly code: string
  /** The output that the example promises: the comments behind its `console.log` lines. */
  readonly promised: readonly string[]
}

const SOURCES = ['lib', 'protocols', 'node', 'client']
const BLOCK =
  /\/\*\*(?:(?!\*\/)[^])*?\* @example\n((?: \*.*\n)+?) \*\/\nexport (?:async )?(?:function|const|class|interface) (\w+)/g

export async function docstringExamples(): Promise<DocstringExample[]> {
  const found: DocstringExample[] = []
  for (const folder of SOURCES) {
    const names = await readdir(`${ROOT}/${folder}`, { recursive: true })
    for (const path of names.filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name}`)) {
      for (const [, block = '', name = ''] of (await read(path)).matchAll(BLOCK)) {
        const code = block.replaceAll(/^ \* ?/gm, '').replace(/^```ts\n([^]*)\n```\n$/, '$1')
        const promised = [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map(([, output = '']) => output)
        found.push({ name, path, code, promised })
      }
    }
  }
  return found
}

/**
 * Runs all examples in one process, in order. Each gets its own block and its own imports.
 * @returns the lines that each example printed, in the same order
 */
export async function outputsOf(examples: readonly DocstringExample[]): Promise<string[][]> {
  const mark = '--- next example ---'
  const program = examples.map(({ code }) => `{\n${asBlock(code)}\n}\nconsole.log(${JSON.stringify(mark)})\n`).join('')
  const options = ['--conditions=development', '--input-type=module-typescript', '-']
  const child = spawn(process.execPath, options, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'], timeout: 120_000 })
  const exited = once(child, 'exit')
  child.stdin.end(program)
  const output = await text(child.stdout)
  await exited
  return output.split(`${mark}\n`).map((part) => part.split('\n').filter((line) => line !== ''))
}

/** Import declarations are valid at the top of a module only, so they become `import()` calls. */
function asBlock(code: string): string {
  return code
    .replaceAll(/^import type .*$/gm, '')
    .replaceAll(/^import (\{.*\}) from ('.*')$/gm, 'const $1 = await import($2)')
}
