import type { AddedWebhookView, WebhookView } from '../../admin/events/webhook-api.ts'
import { YES } from '../terminal/confirm.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { type Column, moment } from '../terminal/table.ts'

interface AddFlags {
  readonly events?: string
  readonly allowPrivate?: boolean
}

export const addWebhook: AddCommand = (to, cli) => {
  const webhook = to.command('webhook').description('webhooks: URLs that receive events of this node')

  webhook
    .command('add')
    .description('send events to a URL, signed according to Standard Webhooks; the secret is shown only once')
    .argument('<url>', 'https')
    .option('--events <types>', 'event types, like listing.*,cap.reached (default: all)')
    .option('--allow-private', 'allow plain http, and addresses of this machine and its networks')
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
    .description('list webhooks, without their secrets')
    .action(async () => {
      const view = await (await cli.node()).request('GET /webhooks')
      await cli.list(view, view.webhooks, COLUMNS, {
        what: 'No webhook is registered.',
        next: 'souk webhook add https://example.com/hook'
      })
    })

  webhook
    .command('rm')
    .description('remove a webhook')
    .argument('<id>', 'webhook id from souk webhook list')
    .option(...YES)
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const consequence = 'Its secret and its waiting events are deleted.'
      if (!(await cli.confirm({ yes, question: `Remove webhook ${id}?`, consequence }))) return
      await (await cli.node()).request('DELETE /webhooks/:id', { params: { id } })
      await cli.print({ id, removed: true }, () => [])
      cli.terminal.note(`${id} is removed.`)
    })

  webhook
    .command('test')
    .description('send one test event now')
    .argument('<id>', 'webhook id from souk webhook list')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('POST /webhooks/:id/test', { params: { id } })
      await cli.print(view, () => [])
      cli.terminal.note(view.taken ? 'The test event was accepted.' : `The test event was not accepted. ${view.why}`)
      if (!view.taken) cli.exitCode = EXIT.failed
    })

  webhook
    .command('enable')
    .description('enable a disabled webhook')
    .argument('<id>', 'webhook id from souk webhook list')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('POST /webhooks/:id/enable', { params: { id } })
      await cli.print(view, () => [])
      cli.terminal.note(`${id} receives events from now on.`)
    })

  webhook
    .command('rotate-secret')
    .description('replace the secret; for one day, events are signed with both secrets')
    .argument('<id>', 'webhook id from souk webhook list')
    .action(async (id: string) =>
      tellSecret(cli, await (await cli.node()).request('POST /webhooks/:id/rotate', { params: { id } }))
    )
}

async function tellSecret(cli: Cli, webhook: AddedWebhookView): Promise<void> {
  await cli.print(webhook, () => [webhook.secret])
  cli.terminal.note(`Webhook ${webhook.id}. The secret verifies v1 signatures. It is not shown again.`)
  cli.terminal.note(`The public key ${webhook.public_key} verifies v1a signatures.`)
}

const COLUMNS: ReadonlyArray<Column<WebhookView>> = [
  { head: 'ID', of: ({ id }) => id },
  { head: 'URL', of: ({ url }) => url, least: 16 },
  { head: 'EVENTS', of: ({ events }) => (events.length === 0 ? 'all' : events.join(',')), least: 8 },
  { head: 'STATE', of: ({ state }) => state },
  { head: 'PENDING', of: ({ pending }) => String(pending) },
  { head: 'DELIVERED (UTC)', of: ({ delivered_at: at }) => moment(at), isExtra: true },
  { head: 'NOTE', of: ({ note }) => note ?? '', isExtra: true }
]
