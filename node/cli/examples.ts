import type { Command } from 'commander'

/**
 * Examples in the help of each command, by its name. A test parses each line, and requires one of every command. `weather` is an API of
 * the reader; the `bb-` APIs are those of the demo.
 */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  souk: [
    'souk demo',
    'souk sell http://localhost:8080',
    `souk call bb-sse-ticker '{"symbol":"BTCUSDT","interval":"1m"}'`
  ],
  'souk sell': [
    'souk sell http://localhost:8080',
    'souk sell https://api.example.com/openapi.json --name weather --price 0.002 --yes',
    'souk sell localhost:8080/service?wsdl --protocol soap'
  ],
  'souk api': ['souk api list', 'souk api set weather --price 0.002', 'souk api pause weather'],
  'souk api check': [
    'souk api check --protocol rest --endpoint http://localhost:8080/forecast',
    `souk api check --protocol graphql --endpoint http://localhost:8080/graphql --call '{"query":"{ __typename }"}'`
  ],
  'souk api register': [
    'souk api register --name weather --protocol rest --endpoint http://localhost:8080 --price 0.001',
    'souk api register --name weather --protocol soap --endpoint http://localhost:8080/service?wsdl --price 0.01 --replace'
  ],
  'souk api serve': [
    'souk api serve weather@12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo --endpoint http://localhost:8080'
  ],
  'souk api list': ['souk api list', 'souk api list --wide', 'souk api list --json'],
  'souk api show': ['souk api show weather'],
  'souk api pause': ['souk api pause weather'],
  'souk api resume': ['souk api resume weather'],
  'souk api set': [
    'souk api set weather --price 0.002',
    `souk api set weather --description 'Forecasts for Europe' --tag weather europe`
  ],
  'souk api deprecate': [
    'souk api deprecate weather --sunset 60d',
    'souk api deprecate weather --link https://example.com/weather-2'
  ],
  'souk api retire': ['souk api retire weather'],
  'souk api rm': ['souk api rm weather', 'souk api rm weather --yes'],
  'souk plan': ['souk plan set weather basic --fee 5 --included 10000', 'souk plan list weather'],
  'souk plan set': [
    'souk plan set weather basic --fee 5 --included 10000',
    'souk plan set weather pro --fee 50 --period month --included 100000 --overage 0.0005 --trial-days 7',
    'souk plan set weather free --included 100 --period day --rate 10/1m'
  ],
  'souk plan list': ['souk plan list weather'],
  'souk plan rm': ['souk plan rm weather basic'],
  'souk subscribers': ['souk subscribers', 'souk subscribers weather'],
  'souk mapping': ['souk mapping get weather > mapping.json', 'souk mapping set weather mapping.json'],
  'souk mapping get': ['souk mapping get weather > mapping.json', 'souk mapping get weather --schema'],
  'souk mapping set': ['souk mapping set weather mapping.json', 'souk mapping set weather - < mapping.json'],
  'souk mapping check': ['souk mapping check weather mapping.json'],
  'souk mapping rm': ['souk mapping rm weather'],
  'souk provider': ['souk provider delegations'],
  'souk provider delegate': ['souk provider delegate 12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo'],
  'souk provider delegations': ['souk provider delegations'],

  'souk search': ['souk search', 'souk search ticker', 'souk search --protocol graphql --max-price 0.05 --sort price'],
  'souk market': ['souk market search ticker', 'souk market show bb-sse-ticker'],
  'souk market search': ['souk market search ticker', 'souk market search --tag demo --sort quality'],
  'souk market show': [
    'souk market show bb-sse-ticker',
    'souk market show bb-soap-account --operations',
    'souk market show bb-soap-account getBalance'
  ],
  'souk call': [
    `souk call bb-sse-ticker '{"symbol":"BTCUSDT","interval":"1m"}'`,
    `souk call bb-sse-ticker '{"symbol":"BTCUSDT","interval":"1m"}' --stream --max-price 0.01`,
    'souk call bb-soap-account - < request.json'
  ],
  'souk types': ['souk types bb-soap-account', 'souk types weather --out weather.d.ts'],
  'souk subscribe': [
    'souk subscribe weather --plan basic --max-price 0',
    'souk subscribe weather --plan pro --max-price 0.001 --daily-cap 2'
  ],
  'souk subscriptions': ['souk subscriptions', 'souk subscriptions show 4f9a1c2e'],
  'souk subscriptions list': ['souk subscriptions list', 'souk subscriptions list --wide'],
  'souk subscriptions show': ['souk subscriptions show 4f9a1c2e'],
  'souk subscriptions change': [
    'souk subscriptions change 4f9a1c2e --plan pro',
    'souk subscriptions change 4f9a1c2e --max-price 0.002 --no-daily-cap'
  ],
  'souk subscriptions cancel': ['souk subscriptions cancel 4f9a1c2e', 'souk subscriptions cancel 4f9a1c2e --now'],
  'souk subscriptions pause': ['souk subscriptions pause 4f9a1c2e'],
  'souk subscriptions resume': ['souk subscriptions resume 4f9a1c2e'],
  'souk subscriptions renew': ['souk subscriptions renew 4f9a1c2e'],
  'souk key': ['souk key issue --label my-program', 'souk key list'],
  'souk key issue': [
    'souk key issue --label my-program',
    'souk key issue --label my-program --api bb-sse-ticker --max-price 0.005 --daily-cap 2 --expires-in 90d'
  ],
  'souk key list': ['souk key list', 'souk key list --wide'],
  'souk key show': ['souk key show key_2f5c9a7d1e3b4c6a8f0d'],
  'souk key rotate': [
    'souk key rotate key_2f5c9a7d1e3b4c6a8f0d --overlap 2h',
    'souk key rotate key_2f5c9a7d1e3b4c6a8f0d --now'
  ],
  'souk key disable': ['souk key disable key_2f5c9a7d1e3b4c6a8f0d'],
  'souk key enable': ['souk key enable key_2f5c9a7d1e3b4c6a8f0d'],
  'souk key revoke': ['souk key revoke key_2f5c9a7d1e3b4c6a8f0d'],
  'souk account': ['souk account open --label my-customer', 'souk account list'],
  'souk account open': ['souk account open --label my-customer'],
  'souk account list': ['souk account list'],
  'souk account show': ['souk account show acct_2f5c9a7d1e3b4c6a8f0d4f9a'],
  'souk mcp': [
    'souk mcp --api bb-sse-ticker --api bb-graphql-user',
    'souk mcp --api bb-sse-ticker --ingress http://127.0.0.1:8402 --key-file key.txt'
  ],
  'souk why': ['souk why bb-sse-ticker'],
  'souk pin': ['souk pin weather@12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo'],

  'souk wallet': ['souk wallet balance', 'souk wallet deposit', 'souk wallet backup wallet-backup.json'],
  'souk wallet create': ['souk wallet create --network dev'],
  'souk wallet import': ['souk wallet import wallet-backup.json --network dev'],
  'souk wallet show': ['souk wallet show'],
  'souk wallet backup': ['souk wallet backup wallet-backup.json'],
  'souk wallet balance': ['souk wallet balance'],
  'souk wallet deposit': ['souk wallet deposit', 'souk wallet deposit 10'],
  'souk wallet withdraw': ['souk wallet withdraw 2.5 --to 0x70726f7669646572000000000000000000000001'],
  'souk payout': ['souk payout show'],
  'souk payout set': ['souk payout set 0x70726f7669646572000000000000000000000001'],
  'souk payout show': ['souk payout show'],
  'souk earnings': ['souk earnings', 'souk earnings --csv > earnings.csv'],
  'souk receipts': [
    'souk receipts --limit 10',
    'souk receipts --role owner --api weather --since 7d',
    'souk receipts --csv --since 2026-01-01 > receipts.csv'
  ],
  'souk books': ['souk books export > books.csv'],
  'souk books export': ['souk books export > books.csv', 'souk books export --after 1200 --json'],
  'souk settle': ['souk settle --now'],
  'souk channel': ['souk channel list', 'souk channel close --all'],
  'souk channel list': ['souk channel list', 'souk channel list --all --wide'],
  'souk channel open': ['souk channel open weather'],
  'souk channel close': ['souk channel close --all', 'souk channel close 4f9a1c2e'],
  'souk channel withdraw': ['souk channel withdraw 4f9a1c2e'],
  'souk channel accept': ['souk channel accept 4f9a1c2e'],

  'souk init': [
    'souk init',
    'souk init --network demo --role buy',
    'souk init --no-input --network base-sepolia --role sell --passphrase-file passphrase.txt'
  ],
  'souk up': ['souk up', 'souk up --network dev', 'souk --profile shop up --network dev --no-ingress'],
  'souk demo': ['souk demo', 'souk demo --once --json'],
  'souk status': ['souk status', 'souk --profile demo-consumer status'],
  'souk console': ['souk console', 'souk --profile demo-owner console'],
  'souk console browsers': ['souk console browsers'],
  'souk console sign-out': ['souk console sign-out 4f9a1c2e7d1e'],
  'souk doctor': ['souk doctor', 'souk doctor --json'],
  'souk settings': ['souk settings', 'souk settings --capture on'],
  'souk tail': ['souk tail', 'souk tail --no-calls --events listing.*,key.revoked'],
  'souk webhook': ['souk webhook add https://example.com/hook', 'souk webhook list'],
  'souk webhook add': [
    'souk webhook add https://example.com/hook',
    'souk webhook add http://127.0.0.1:9000/hook --events listing.*,cap.reached --allow-private'
  ],
  'souk webhook list': ['souk webhook list'],
  'souk webhook rm': ['souk webhook rm wh_2f5c9a7d1e3b4c6a8f0d'],
  'souk webhook test': ['souk webhook test wh_2f5c9a7d1e3b4c6a8f0d'],
  'souk webhook enable': ['souk webhook enable wh_2f5c9a7d1e3b4c6a8f0d'],
  'souk webhook rotate-secret': ['souk webhook rotate-secret wh_2f5c9a7d1e3b4c6a8f0d'],
  'souk peers': ['souk peers', 'souk peers --wide'],
  'souk backup': ['souk backup /mnt/backup/souk-2026-11-22'],
  'souk restore': ['souk --profile restored restore /mnt/backup/souk-2026-11-22'],
  'souk network': ['souk network show', 'souk network check network.json'],
  'souk network create': [
    'souk network create --name village --chain http://127.0.0.1:8545 --treasury 0x7472656173757279000000000000000000000001',
    'souk network create --name village --chain base-sepolia --treasury 0x7472656173757279000000000000000000000001 --host souk.example.com --passphrase-file passphrase.txt'
  ],
  'souk network sign': ['souk network sign --host souk.example.com', 'souk network sign --lan --out network.json'],
  'souk network show': ['souk network show', 'souk network show network.json'],
  'souk network check': ['souk network check', 'souk network check https://example.com/network.json'],
  'souk invite': ['souk invite', 'souk invite --url https://example.com/network.json'],
  'souk join': ['souk join https://example.com/network.json', 'souk join network.json --role buy'],
  'souk dev': ['souk dev', 'souk dev --port 8600'],
  'souk dev give': ['souk dev give 0x70726f7669646572000000000000000000000001 --usdc 25'],
  'souk conformance': [
    'souk conformance peer /ip4/127.0.0.1/tcp/4402/p2p/12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo'
  ],
  'souk conformance peer': [
    'souk conformance peer /ip4/127.0.0.1/tcp/4402/p2p/12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo'
  ],
  'souk conformance consumer': [
    'souk conformance consumer',
    'souk conformance consumer --listen /ip4/0.0.0.0/tcp/4403'
  ],
  'souk disputes': ['souk disputes', 'souk disputes --all'],
  'souk disputes list': ['souk disputes list', 'souk disputes list --all'],
  'souk disputes accept': ['souk disputes accept 01a20646-a146-7000-bf38-6097d4e94146'],
  'souk disputes take-back': ['souk disputes take-back 01a20646-a146-7000-bf38-6097d4e94146'],
  'souk receipts verify': ['souk receipts verify receipts.json'],
  'souk completion': ['source <(souk completion bash)', 'souk completion fish > ~/.config/fish/completions/souk.fish']
}

/** Adds the examples to the help of a command and of those below it. */
export function addExamples(command: Command, name = command.name()): void {
  const lines = EXAMPLES[name] ?? []
  if (lines.length > 0) command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'))
  for (const below of command.commands) addExamples(below, `${name} ${below.name()}`)
}
