import { useQuery } from '@tanstack/react-query'
import { type ApiView, queries } from '../../admin/queries.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { Operations } from '../../parts/operations.tsx'
import { Try } from '../../parts/try.tsx'

interface ApiProps {
  readonly api: ApiView
}

export function ApiOperations({ api }: ApiProps) {
  const description = useQuery(queries.description(api.name))
  return <Loaded query={description}>{(view) => <Operations description={view} />}</Loaded>
}

export function ApiTry({ api }: ApiProps) {
  const description = useQuery(queries.description(api.name))
  return (
    <Loaded query={description}>
      {(view) => <Try api={api.id} protocol={api.protocol} description={view} price={api.price} />}
    </Loaded>
  )
}
