/**
 * On-chain payments: `import { createChannelTill } from 'souk/pay'`. A separate entry point, so that embedders with free APIs or
 * their own payment scheme do not load the chain libraries. Re-exports only.
 *
 * @packageDocumentation
 */
export { createChain } from './chain/chain.ts'
export {
  deploySplitters,
  type DeployedSplitters,
  type DeploySplittersInit,
  verifySplitters
} from './chain/deploy-splitters.ts'
export type { ChannelSummary } from './channel-summary.ts'
export { type ChannelTill, type ChannelTillInit, type ClosedChannel, createChannelTill } from './channel-till.ts'
export type { PayRules } from './payer/pay-rules.ts'
export type { Settlement } from './settle/settlement.ts'
export { CREATE2_DEPLOYER, type SplitterFactory, splitterFactory } from './chain/splitter.ts'
