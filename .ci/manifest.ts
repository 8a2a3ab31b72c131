/**
 * The `development` export condition is for this repository only: it names TypeScript sources, which are not published and
 * which Node would refuse to strip inside node_modules. Bundlers set that condition by themselves in development mode, so a
 * published one would break their users. `prepack` takes it out of package.json, `postpack` puts it back; both
 * derive it from the `types` path, so running either twice, or after an interrupted pack, is harmless.
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
