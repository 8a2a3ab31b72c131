/** The choices made in `souk init`. */
export interface Plan {
  readonly profile: string
  readonly network: string
  readonly role: 'provide' | 'consume' | 'both'
  /** Address of the wallet; null without one. */
  readonly wallet: string | null
  readonly payout: string | null
  readonly api: {
    readonly name: string
    readonly protocol: string
    readonly endpoint: string
    readonly price: string
  } | null
}

interface Setting {
  /** Commands need no `--profile`. */
  readonly isDefault: boolean
  readonly isDemo: boolean
}

/** The next commands in order, each with its purpose. */
export function nextSteps({ profile, network, role, wallet, payout, api }: Plan, setting: Setting): string[] {
  const souk = setting.isDefault ? 'souk' : `souk --profile ${profile}`
  const isDev = network === 'dev'
  const isSelling = role !== 'consume'
  const steps: Array<readonly [string, string] | false> = [
    setting.isDemo && ['souk demo', 'run a demo marketplace on this machine'],
    wallet !== null && [`${souk} wallet backup <file>`, 'back up the wallet to another disk'],
    wallet !== null && isDev && ['souk dev-chain up', 'run a local chain with play USDC, in another terminal'],
    wallet !== null && [
      `${souk} wallet deposit${isDev ? ' 10' : ''}`,
      isDev ? 'get play USDC' : 'show the address for deposits'
    ],
    [`${souk} up`, 'run the node; use another terminal for the next commands'],
    isSelling &&
      wallet !== null &&
      payout === null && [`${souk} payout set <address>`, 'set the address that receives your earnings'],
    isSelling && [`${souk} api register ${apiOptions(api)}`, 'publish the API'],
    !isSelling && [`${souk} search <words>`, 'find APIs'],
    role !== 'provide' && [`${souk} key issue --label <program>`, 'create a key for a program that calls APIs'],
    [`${souk} console`, 'manage the node in a browser'],
    [`${souk} doctor`, 'diagnose problems']
  ]
  return steps.flatMap((step) => (step === false ? [] : [`${step[0]}    # ${step[1]}`]))
}

function apiOptions(api: Plan['api']): string {
  if (api === null) return '--name <name> --protocol <protocol> --endpoint <url> --price <number>'
  return `--name ${quoted(api.name)} --protocol ${api.protocol} --endpoint ${quoted(api.endpoint)} --price ${api.price}`
}

/** Quotes a word for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
