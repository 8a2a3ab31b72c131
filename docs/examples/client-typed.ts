import { createClient } from 'souk/client'
import type { BbSoapAccount } from './bank.d.ts'

const ingress = 'http://127.0.0.1:8402'
const key = 'souk_test_SharedPublicDemoKeyForEverybody000UWma'
const bank = createClient({ ingress, key }).for<BbSoapAccount>('bb-soap-account')
const { body } = await bank.getBalance({ accountId: 'ACC-1001' })
console.log(body.balance)
