import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { scan } from '../helpers/scan.ts'
import { read, ROOT } from './markdown.ts'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly name?: string; readonly dev?: boolean }>>
}

/** The console is bundled when the package is built. */
const SHIPPED = '{lib,protocols,node}/**/*.ts'
const BUNDLED = 'node/console/'
const NESTED = 'node_modules/'

describe('the dependencies', () => {
  let manifest: Manifest

  before(async () => {
    manifest = JSON.parse(await read('package.json')) as Manifest
  })

  it('have a row each in CONTRIBUTING.md', async () => {
    const [, runtime = '', development = ''] = (await read('CONTRIBUTING.md')).split(
      /^\| (?:D|Development d)ependency \|.*$/m
    )
    assert.deepEqual(namesIn(runtime), Object.keys(manifest.dependencies).toSorted())
    assert.deepEqual(namesIn(development), Object.keys(manifest.devDependencies).toSorted())
  })

  it('of the package are exactly those that its code imports', async () => {
    const imported = new Set<string>()
    for await (const path of glob(SHIPPED, { cwd: ROOT })) {
      if (path.startsWith(BUNDLED)) continue
      const { imports } = scan(path, await readFile(resolve(ROOT, path), 'utf8'))
      for (const { specifier = '.' } of imports) {
        const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''
        if (!/^(?:node:|\.)/.test(specifier)) imported.add(name)
      }
    }
    assert.deepEqual([...imported].toSorted(), Object.keys(manifest.dependencies).toSorted())
  })

  it('are installed for production without TypeScript', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as Lock
    const compilers = Object.entries(packages).filter(([path, { name }]) => /(?:^|\/)typescript$/.test(name ?? path))
    assert.notEqual(compilers.length, 0)
    for (const [path, { dev }] of compilers) assert.equal(dev, true, path)
  })

  // A second copy is loaded again: nine of one package were 104 modules of each start.
  it('are nested only below another version of theirs', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as Lock
    const nested = Object.entries(packages).filter(([path, { dev }]) => dev !== true && path.split(NESTED).length > 2)
    assert.notEqual(nested.length, 0)
    for (const [path] of nested) {
      const name = path.slice(path.lastIndexOf(NESTED) + NESTED.length)
      assert.ok(`${NESTED}${name}` in packages, `${path} could be ${NESTED}${name}`)
    }
  })
})

/** The names in the first column of a table. */
function namesIn(table: string): readonly string[] {
  const cells = table.split('\n').map((line) => line.split(' | ')[0] ?? '')
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)).toSorted()
}
