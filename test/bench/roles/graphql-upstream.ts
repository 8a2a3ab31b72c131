import { createServer } from 'node:http'
import { GraphQLInt, GraphQLList, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql'
import { createHandler } from 'graphql-http/lib/use/http'
import { listenOnLoopback } from '../loopback.ts'
import { play } from '../role.ts'

const Post = new GraphQLObjectType({
  name: 'Post',
  fields: { id: { type: GraphQLInt }, title: { type: GraphQLString } }
})

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      posts: {
        type: new GraphQLList(Post),
        args: { first: { type: GraphQLInt } },
        resolve: (_parent, { first }: { readonly first: number }) =>
          Array.from({ length: first }, (_, id) => ({ id, title: 'On notes and machines' }))
      }
    }
  })
})

/** A GraphQL API: graphql-http on node:http. */
play(() => {
  const handle = createHandler({ schema })
  return listenOnLoopback(createServer((request, response) => void handle(request, response)))
})
