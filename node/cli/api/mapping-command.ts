import type { MappingInput } from '../../admin/api.ts'
import { tellRegistered } from './register.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { readAll } from '../options/read-all.ts'
import { readTextFile } from '../options/text-file.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Commands for the provider's changes to the JSON of a SOAP API: field names, values, rules. */
export const addMapping: AddCommand = (to, cli) => {
  const mapping = to.command('mapping').description('your changes to the JSON of a SOAP API: names, values, rules')

  mapping
    .command('get')
    .description('print the mapping as JSON; without one, a mapping that changes nothing')
    .argument('<name>', 'name of the API')
    .option('--schema', 'print the JSON Schema of mappings instead')
    .action(async (name: string, { schema }: { schema?: boolean }) => {
      const view = await (await cli.node()).request('GET /apis/:name/mapping', { params: { name } })
      const shown = (schema === true ? view.schema : view.mapping) as object
      await cli.print(shown, () => [JSON.stringify(shown, undefined, 2)])
    })

  mapping
    .command('set')
    .description('replace the mapping; publishes a new revision of the listing')
    .argument('<name>', 'name of the API')
    .argument('<file>', 'the mapping; "-" reads it from stdin')
    .action(async (name: string, file: string) => {
      const input = { mapping: await read(cli, file) }
      await tellRegistered(
        cli,
        await (await cli.node()).request('PUT /apis/:name/mapping', { params: { name }, body: input })
      )
    })

  mapping
    .command('check')
    .description('check a mapping against the WSDL without changing anything')
    .argument('<name>', 'name of the API')
    .argument('<file>', 'the mapping; "-" reads it from stdin')
    .action(async (name: string, file: string) => {
      const view = await (await cli.node()).request('POST /apis/:name/mapping/check', {
        params: { name },
        body: { mapping: await read(cli, file) }
      })
      await cli.print(view, () => view.problems.map(({ at, problem }) => `${at === '' ? '/' : at}: ${problem}`))
      if (view.problems.length === 0) return cli.terminal.note('The mapping is valid.')
      cli.exitCode = EXIT.failed
    })

  mapping
    .command('rm')
    .description('remove the mapping, so that the JSON follows the WSDL alone')
    .argument('<name>', 'name of the API')
    .action(async (name: string) => {
      const node = await cli.node()
      const { mapping: current } = await node.request('GET /apis/:name/mapping', { params: { name } })
      const { revision } = current as { revision: number }
      const empty = { version: 1, revision: revision + 1, operations: {} }
      await tellRegistered(
        cli,
        await node.request('PUT /apis/:name/mapping', { params: { name }, body: { mapping: empty } })
      )
    })
}

async function read(cli: Cli, file: string): Promise<MappingInput['mapping']> {
  const text = file === '-' ? await readAll(cli.terminal.stdin) : await readTextFile(file)
  try {
    return JSON.parse(text) as MappingInput['mapping']
  } catch {
    throw new UsageError(`${file === '-' ? 'The input' : file} is not JSON.`)
  }
}
