/** What `souk init` was told. */
export interface Plan {
  readonly profile: string
  readonly network: string
  readonly role: 'provide' | 'consume' | 'both'
  /** Its address; null without one. */
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
  /** The profile is found without being named. */
  readonly isDefault: boolean
  readonly isDemo: boolean
}

/** Commands in the order in which they make sense, each with what it is for. */
export function nextSteps({ profile, network, role, wallet, payout, api }: Plan, setting: Setting): string[] {
  const souk = setting.isDefault ? 'souk' : `souk --profile ${profile}`
  const isDev = network === 'dev'
  const isSelling = role !== 'consume'
  const steps: Array<readonly [string, string] | false> = [
    setting.isDemo && ['souk demo', 'a whole marketplace on this machine, to look around'],
    wallet !== null && [`${souk} wallet backup <file>`, 'the wallet, to another disk'],
    wallet !== null && isDev && ['souk dev-chain up', 'in another terminal: a chain with play USDC'],
    wallet !== null && [`${souk} wallet deposit${isDev ? ' 10' : ''}`, isDev ? 'play money' : 'where to send USDC'],
    [`${souk} up`, 'the node, until Ctrl-C; what follows goes into another terminal'],
    isSelling && wallet !== null && payout === null && [`${souk} payout set <address>`, 'where your APIs are paid'],
    isSelling && [`${souk} api register ${apiOptions(api)}`, 'publish the API'],
    !isSelling && [`${souk} search <words>`, 'find APIs'],
    role !== 'provide' && [`${souk} key issue --label <program>`, 'a key for a program that calls them'],
    [`${souk} console`, 'all of this in a browser'],
    [`${souk} doctor`, 'whether something is wrong']
  ]
  return steps.flatMap((step) => (step === false ? [] : [`${step[0]}    # ${step[1]}`]))
}

function apiOptions(api: Plan['api']): string {
  if (api === null) return '--name <name> --protocol <protocol> --endpoint <url> --price <number>'
  return `--name ${quoted(api.name)} --protocol ${api.protocol} --endpoint ${quoted(api.endpoint)} --price ${api.price}`
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
