import { z } from 'zod'
import { amount, view } from '../../http/schemas.ts'

/** What the admin API takes and gives of a wallet that is made, taken over and kept. As in `api.ts`. */

const passphrase = z.string().min(1).max(1_000)

export const makeWalletSchema = z.strictObject({ passphrase })
export type MakeWalletInput = z.input<typeof makeWalletSchema>

export const importWalletSchema = z.strictObject({
  key_file: z
    .string()
    .max(16_384)
    .describe(
      "Another wallet's key file (keystore version 3), as text. Bare keys are taken by the command line alone."
    ),
  old_passphrase: z.string().max(1_000).describe('Which it has now.'),
  passphrase
})
export type ImportWalletInput = z.input<typeof importWalletSchema>

/** `POST /wallet/deposits`, on the network dev */
export const playMoneySchema = z.strictObject({ amount })
export type PlayMoneyInput = z.input<typeof playMoneySchema>

export const walletCardViewSchema = view(
  'WalletCardView',
  {
    address: z.string().nullable().describe('With its checksum; null without a wallet.'),
    network: z.string(),
    money: z.string()
  },
  'What is on disk, whether the node runs with it or not.'
)
export type WalletCardView = z.output<typeof walletCardViewSchema>

export const keyFileViewSchema = view(
  'KeyFileView',
  {
    key_file: z.string()
  },
  'Encrypted, as it is on disk.'
)
