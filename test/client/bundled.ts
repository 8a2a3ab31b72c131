import { build } from 'vite'

/** A module and what it imports as one minified module, as a page loads it. */
export async function bundled(path: string): Promise<string> {
  const built = await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      rolldownOptions: { input: path, preserveEntrySignatures: 'strict' }
    }
  })
  const [output] = Array.isArray(built) ? built : [built]
  if (output === undefined || !('output' in output)) throw new Error('The bundler wrote nothing.')
  const [chunk, ...others] = output.output
  if (others.length > 0) throw new Error(`The bundler wrote ${others.length} more files.`)
  return chunk.code
}
