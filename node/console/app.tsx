import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Route, Switch, useLocation } from 'wouter'
import { queries } from './admin/queries.ts'
import { SignIn, SignInAgain } from './pages/sign-in.tsx'
import { NotFound } from './pages/not-found-page.tsx'
import { Guarded } from './parts/guarded.tsx'
import { Loading } from './parts/loaded.tsx'
import { ROUTES } from './routes.tsx'
import { Shell } from './shell.tsx'

/** @param linkCode - setup code of the link that opened the console; empty without one */
export function App({ linkCode }: { readonly linkCode: string }) {
  const session = useQuery(queries.session())
  const client = useQueryClient()
  const [place] = useLocation()
  const [wasIn, setWasIn] = useState(false)
  if (session.isPending) return null
  const isOut = session.data?.entered === false
  if (!isOut && !wasIn) setWasIn(true)
  if (isOut && !wasIn) return <SignIn linkCode={linkCode} onEntered={() => void session.refetch()} />
  return (
    <Shell>
      {isOut && <SignInAgain onEntered={() => void client.invalidateQueries()} />}
      <Guarded place={place}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {ROUTES.map(({ path, page }) => (
              <Route key={path} path={path} component={page} />
            ))}
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </Guarded>
    </Shell>
  )
}
