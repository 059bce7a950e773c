import protobuf from 'protobufjs';

/** The messages of Envoy's ext_authz protocol, version 3, as another library reads and writes them. */
const DEFINITION = `
  syntax = "proto3";
  message SocketAddress { string address = 2; uint32 port_value = 3; }
  message Address { SocketAddress socket_address = 1; }
  message Peer { Address address = 1; string service = 2; }
  message HttpRequest {
    string id = 1; string method = 2; map<string, string> headers = 3; string path = 4; string host = 5;
    string scheme = 6; string query = 7; string fragment = 8; int64 size = 9; string protocol = 10;
    string body = 11; bytes raw_body = 12;
  }
  message Request { HttpRequest http = 2; }
  message AttributeContext { Peer source = 1; Peer destination = 2; Request request = 4; }
  message CheckRequest { AttributeContext attributes = 1; }

  message Status { int32 code = 1; string message = 2; }
  message BoolValue { bool value = 1; }
  message HeaderValue { string key = 1; string value = 2; bytes raw_value = 3; }
  message HeaderValueOption { HeaderValue header = 1; BoolValue append = 2; int32 append_action = 3; }
  message HttpStatus { int32 code = 1; }
  message QueryParameter { string key = 1; string value = 2; }
  message Denied { HttpStatus status = 1; repeated HeaderValueOption headers = 2; string body = 3; }
  message Ok {
    repeated HeaderValueOption headers = 2; repeated string headers_to_remove = 5;
    repeated HeaderValueOption response_headers_to_add = 6; repeated QueryParameter query_parameters_to_set = 7;
  }
  message CheckResponse { Status status = 1; Denied denied_response = 2; Ok ok_response = 3; fixed64 later = 99; }
`;

const { root } = protobuf.parse(DEFINITION);
const requests = root.lookupType('CheckRequest');
const responses = root.lookupType('CheckResponse');

export interface SeenCheck {
  readonly attributes: {
    readonly source: { readonly address: { readonly socketAddress: { address: string; portValue: number } } };
    readonly request: {
      readonly http: {
        readonly method: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly path: string;
        readonly host: string;
        readonly scheme: string;
        readonly size: number;
        readonly protocol: string;
        readonly body: string;
        readonly rawBody: string;
      };
    };
  };
}

export function decodeCheck(bytes: Buffer): SeenCheck {
  return requests.toObject(requests.decode(bytes), {
    longs: Number,
    bytes: String,
    defaults: true,
  }) as SeenCheck;
}

/** Fields in camel case; `later` is one that the gateway does not know. */
export function encodeVerdict(response: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(responses.encode(responses.fromObject(response)).finish());
}

export const headerOf = (key: string, value: string, more: object = {}): object => ({
  header: { key, value },
  ...more,
});
