import { writeFile } from 'node:fs/promises'
import type { AddCommand } from '../cli.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Writes the types of an API for an editor and a compiler. */
export const addTypes: AddCommand = (to, cli) => {
  to.command('types')
    .description('write the TypeScript types of an API, for souk/client')
    .argument('<api>', 'name, or name@provider')
    .option('--out <file>', 'write this file, such as weather.d.ts, instead of stdout')
    .action(async (api: string, { out }: { readonly out?: string }) => {
      const node = await cli.node()
      const listing = await node.request('GET /listings/:id/description', { params: { id: api } })
      const { declarationsOf } = await import('../../types/declarations.ts')
      const { name, source } = await declarationsOf(listing)
      if (out === undefined) return cli.print({ name, source }, () => [source.trimEnd()])
      await writeFile(out, source).catch(() => {
        throw new UsageError(`${out} cannot be written.`)
      })
      await cli.print({ name, file: out }, () => [
        `Wrote ${out}. Import the type ${name}: client.for<${name}>('${listing.name}')`
      ])
    })
}
