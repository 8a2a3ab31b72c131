// Types of bb-soap-account@12D3KooW…, revision 1, written by `souk types bb-soap-account`.
// const api = createClient({ … }).for<BbSoapAccount>('bb-soap-account')

export interface BbSoapAccount {
  /** The current balance of an account. */
  getBalance: {
    input: {
      accountId: string
    }
    output: {
      accountId: string
      balance: number | string
      currency: Currency
      asOf: string
    }
  }
  /** The latest transactions of an account, newest first. */
  getTransactions: {
    input: {
      accountId: string
      limit?: Limit
    }
    output: {
      accountId: string
      transaction: Transaction[]
    }
  }
}

export type Currency = 'USD' | 'EUR' | 'CHF'

export type Limit = number

export type Transaction = {
  id: number | string
  bookedOn: string
  amount: number | string
  description: string
}
