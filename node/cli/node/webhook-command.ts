import type { AddedWebhookView, WebhookView } from '../../admin/events/webhook-api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { moment, table } from '../terminal/table.ts'

interface AddFlags {
  readonly events?: string
  readonly allowPrivate?: boolean
}

export const addWebhook: AddCommand = (to, cli) => {
  const webhook = to.command('webhook').description('URLs that are told of what happens on this node')

  webhook
    .command('add')
    .description('tell a URL of events, signed as Standard Webhooks has it; the secret is shown this once')
    .argument('<url>', 'https')
    .option('--events <types>', 'like listing.*,cap.reached (default: all)')
    .option('--allow-private', 'it may be on this machine or its network, and plain http')
    .action(async (url: string, { events, allowPrivate }: AddFlags) => {
      const added = await (await cli.node()).request('POST /webhooks', {
        body: {
          url,
          events: events?.split(','),
          allow_private: allowPrivate
        }
      })
      await tellSecret(cli, added)
    })

  webhook
    .command('list')
    .description('webhooks, without their secrets')
    .action(async () => {
      const view = await (await cli.node()).request('GET /webhooks')
      await cli.print(view, () => lines(view.webhooks))
    })

  webhook
    .command('rm')
    .description('tell it nothing more')
    .argument('<id>', 'as webhook list shows it')
    .action(async (id: string) => {
      await (await cli.node()).request('DELETE /webhooks/:id', { params: { id } })
      await cli.print({ id, removed: true }, () => [])
      cli.terminal.note(`${id} is removed.`)
    })

  webhook
    .command('test')
    .description('send it one event now')
    .argument('<id>', 'as webhook list shows it')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('POST /webhooks/:id/test', { params: { id } })
      await cli.print(view, () => [])
      cli.terminal.note(view.taken ? 'It was taken.' : `It was not taken. ${view.why}`)
      if (!view.taken) cli.exitCode = EXIT.failed
    })

  webhook
    .command('enable')
    .description('tell a disabled one again of what happens')
    .argument('<id>', 'as webhook list shows it')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('POST /webhooks/:id/enable', { params: { id } })
      await cli.print(view, () => [])
      cli.terminal.note(`${id} is told of what happens from now on.`)
    })

  webhook
    .command('rotate-secret')
    .description('a new secret; for a day everything is signed with the old one too')
    .argument('<id>', 'as webhook list shows it')
    .action(async (id: string) =>
      tellSecret(cli, await (await cli.node()).request('POST /webhooks/:id/rotate', { params: { id } }))
    )
}

async function tellSecret(cli: Cli, webhook: AddedWebhookView): Promise<void> {
  await cli.print(webhook, () => [webhook.secret])
  cli.terminal.note(`This is ${webhook.id}. The secret is not shown again; it checks v1 signatures.`)
  cli.terminal.note(`v1a signatures are checked with ${webhook.public_key}, which is no secret.`)
}

function lines(webhooks: readonly WebhookView[]): string[] {
  return table(
    ['ID', 'URL', 'EVENTS', 'STATE', 'PENDING', 'DELIVERED (UTC)', 'NOTE'],
    webhooks.map(({ id, url, events, state, pending, delivered_at, note }) => [
      id,
      url,
      events.length === 0 ? 'all' : events.join(','),
      state,
      String(pending),
      moment(delivered_at),
      note ?? '-'
    ])
  )
}
