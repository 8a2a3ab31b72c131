import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Compiles files as a program that uses `souk/client`, with strict settings and no other types. Returns the compiler's errors. */
export async function compiled(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'souk-types-'))
  try {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      module: 'esnext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      types: [],
      paths: { 'souk/client': [join(ROOT, 'client/index.ts')] }
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    return await run(tsc, ['-p', folder], { maxBuffer: 2 ** 26 }).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout || 'The compiler did not run.'
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
