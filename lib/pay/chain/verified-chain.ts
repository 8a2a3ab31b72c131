import type { Chain } from '../../interface/chain.ts'

/**
 * Wraps a chain so that each method first waits for `verify`: it must be the right chain, with the right contracts. A failed
 * check is repeated at the next use.
 */
export function verifiedChain(chain: Chain): Chain {
  let verified: Promise<void> | undefined
  const verify = (): Promise<void> => {
    verified ??= chain.verify().catch((error: unknown) => {
      verified = undefined
      throw error
    })
    return verified
  }
  const after = async <T>(ask: () => Promise<T>): Promise<T> => {
    await verify()
    return ask()
  }
  return {
    parameters: chain.parameters,
    verify,
    checkId: () => after(() => chain.checkId()),
    block: (at) => after(() => chain.block(at)),
    channels: (ids, at) => after(() => chain.channels(ids, at)),
    receiver: (address, at) => after(() => chain.receiver(address, at)),
    splitter: (address, at) => after(() => chain.splitter(address, at)),
    balance: (account, at) => after(() => chain.balance(account, at)),
    gas: (account) => after(() => chain.gas(account)),
    authorizationUsed: (payer, nonce) => after(() => chain.authorizationUsed(payer, nonce)),
    authorizedTransfer: (payer, nonce, sinceMs) => after(() => chain.authorizedTransfer(payer, nonce, sinceMs)),
    sentTransfer: (query) => after(() => chain.sentTransfer(query)),
    nonce: (account, at) => after(() => chain.nonce(account, at)),
    fees: () => after(() => chain.fees()),
    simulate: (from, call) => after(() => chain.simulate(from, call)),
    broadcast: (transaction) => after(() => chain.broadcast(transaction)),
    receipt: (transactionHash) => after(() => chain.receipt(transactionHash)),
    read: (call) => after(() => chain.read(call)),
    code: (address) => after(() => chain.code(address))
  }
}
