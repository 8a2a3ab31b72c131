import type { ProtocolDescriptor } from '../descriptor.ts'

export const soapDescriptor = {
  name: 'SOAP',
  about: 'described by a WSDL',
  isUnaryOnly: true,
  hasMapping: true,
  sources: [
    {
      from: 'url',
      label: 'WSDL by address',
      endpoint: { label: 'Address of the WSDL', placeholder: 'https://bank.example.com/account?wsdl' }
    },
    {
      from: 'file',
      label: 'WSDL file or zip',
      endpoint: { label: 'Address of the service', placeholder: 'https://bank.example.com/account' },
      file: {
        label: 'WSDL',
        hint: 'The WSDL with all that it imports, or one zip of them.',
        accept: '.wsdl,.xsd,.xml,.zip',
        isSeveral: true,
        member: 'wsdl',
        option: 'wsdl-file',
        example: 'service.wsdl'
      }
    }
  ]
} as const satisfies ProtocolDescriptor
