/**
 * On-chain payments: `import { createChannelScheme } from 'souk/pay'`. A separate entry point, so that embedders with free APIs or
 * their own payment scheme do not load the chain libraries. Re-exports only.
 *
 * @packageDocumentation
 */
export { createChain } from './chain/chain.ts'
export {
  deploySplitters,
  type DeployedSplitters,
  type DeploySplittersInit,
  estimateSplitters,
  verifySplitters
} from './chain/deploy-splitters.ts'
export type { ChannelSummary } from './channel-summary.ts'
export {
  type ChannelScheme,
  type ChannelSchemeInit,
  type ClosedChannel,
  createChannelScheme
} from './channel-scheme.ts'
export type { PayRules } from './payer/pay-rules.ts'
export type { Settlement } from './settle/settlement.ts'
export type { ReceiptBody } from './signing/receipt.ts'
export { verifyReceipt } from './verify-receipt.ts'
export { CREATE2_DEPLOYER, type SplitterFactory, splitterFactory } from './chain/splitter.ts'
