import { readFile } from 'node:fs/promises'
import type { MappingInput } from '../../admin/api.ts'
import { tellRegistered } from './api-register-command.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { readAll } from '../options/read-all.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** What a provider changes about the JSON of a SOAP API: field names, values, rules. */
export const addMapping: AddCommand = (to, cli) => {
  const mapping = to.command('mapping').description('your changes to the JSON of a SOAP API: names, values, rules')

  mapping
    .command('get')
    .description('the mapping, as JSON; one that changes nothing where there is none')
    .argument('<name>', 'of the API')
    .option('--schema', 'the JSON Schema of mappings instead')
    .action(async (name: string, { schema }: { schema?: boolean }) => {
      const view = await (await cli.node()).request('GET /apis/:name/mapping', { params: { name } })
      const shown = (schema === true ? view.schema : view.mapping) as object
      await cli.print(shown, () => [JSON.stringify(shown, undefined, 2)])
    })

  mapping
    .command('set')
    .description('use this one from now on; publishes a new revision of the listing')
    .argument('<name>', 'of the API')
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
    .description('say what of a mapping does not fit the WSDL, and change nothing')
    .argument('<name>', 'of the API')
    .argument('<file>', 'the mapping; "-" reads it from stdin')
    .action(async (name: string, file: string) => {
      const view = await (await cli.node()).request('POST /apis/:name/mapping/check', {
        params: { name },
        body: { mapping: await read(cli, file) }
      })
      await cli.print(view, () => view.problems.map(({ at, problem }) => `${at === '' ? '/' : at}: ${problem}`))
      if (view.problems.length === 0) return cli.terminal.note('It fits.')
      cli.exitCode = EXIT.failed
    })

  mapping
    .command('rm')
    .description('show the JSON of the WSDL alone again')
    .argument('<name>', 'of the API')
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
  const text = file === '-' ? await readAll(cli.terminal.stdin) : await readFile(file, 'utf8').catch(notThere(file))
  try {
    return JSON.parse(text) as MappingInput['mapping']
  } catch {
    throw new UsageError(`${file === '-' ? 'What was read' : file} is not JSON.`)
  }
}

function notThere(file: string): () => never {
  return () => {
    throw new UsageError(`${file} cannot be read.`)
  }
}
