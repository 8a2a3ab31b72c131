/**
 * The `development` export condition is only for this repository: it names TypeScript sources, which are not published and which
 * Node does not strip inside node_modules. Bundlers set this condition in development mode, so publishing it would break their
 * users. `prepack` removes it from package.json and `postpack` restores it. Both derive it from the `types` path, so repeating
 * either is harmless, also after an interrupted pack.
 */

import { readFileSync, writeFileSync } from 'node:fs'

interface Entry {
  development?: string
  types: string
  default: string
}
interface Manifest {
  exports: Record<string, Entry | string>
}

const [mode] = process.argv.slice(2)
if (mode !== 'pack' && mode !== 'restore') throw new Error('usage: manifest.ts pack|restore')

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
for (const [name, entry] of Object.entries(manifest.exports)) {
  if (typeof entry === 'string') continue
  const { types, default: js } = entry
  const source = types.replace('./dist/', './').replace(/\.d\.ts$/, '.ts')
  manifest.exports[name] = mode === 'pack' ? { types, default: js } : { development: source, types, default: js }
}
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
