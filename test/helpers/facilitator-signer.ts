import { toFacilitatorEvmSigner } from '@x402/evm'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ChainBench } from './chain.ts'

/** The account as the stock x402 facilitator's connection to the dev chain. */
export const facilitatorSigner = ({ client }: Pick<ChainBench, 'client'>, account: PrivateKeyAccount) =>
  toFacilitatorEvmSigner({
    address: account.address,
    readContract: (args) => client.readContract(args),
    verifyTypedData: (args) => client.verifyTypedData(args as never),
    writeContract: (args) => client.writeContract({ ...args, account, chain: client.chain } as never),
    sendTransaction: (args) => client.sendTransaction({ ...args, account, chain: client.chain } as never),
    waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
    getCode: (args) => client.getCode(args)
  })
