import type { VerifiedReceipt } from '../../receipts/verify-receipts.ts'
import type { AddCommand } from '../cli.ts'
import { shortApi } from '../terminal/short-id.ts'
import { EXIT } from '../terminal/exit-code.ts'
import type { Column } from '../terminal/table.ts'
import { readTextFile } from '../options/text-file.ts'

/** Checks receipts offline, for anybody who has the file. */
export const addReceiptsVerify: AddCommand = (to, cli) => {
  to.command('verify')
    .description('check a file of `souk receipts --json` offline; exits 1 if a receipt is invalid')
    .argument('<file>', 'the file')
    .action(async (path: string) => {
      const text = await readTextFile(path)
      const { verifyReceipts } = await import('../../receipts/verify-receipts.ts')
      const receipts = verifyReceipts(text)
      await cli.list({ receipts }, receipts, LIST, {
        what: 'The file has no receipts.',
        next: 'souk receipts --json > receipts.json'
      })
      if (receipts.some(({ result }) => result === 'invalid')) cli.exitCode = EXIT.failed
    })
}

const LIST: ReadonlyArray<Column<VerifiedReceipt>> = [
  { head: 'RESULT', of: ({ result }) => result },
  { head: 'CHARGED', of: ({ charged }) => `${charged} USDC` },
  { head: 'API', of: ({ api }) => api, short: ({ api }) => shortApi(api), least: 12 },
  { head: 'WHY', of: ({ detail }) => detail },
  { head: 'SIGNER', of: ({ signer }) => signer ?? '', isExtra: true },
  { head: 'REQUEST', of: ({ request_id: id }) => id, isExtra: true }
]
