// One call of the API in seven languages, with nothing but the standard library of each. The key comes from the environment variable
// HERALD_KEY. Each prints the answer; Node, Python, PHP, Ruby, C# and Java print the status before it.

/** One request. `body` undefined: none. */
export type Call = { method: string; url: string; body?: unknown }

export type Language = {
  key: string
  name: string
  /** What the file is called when it is run. */
  file: string
  write(call: Call): string
}

const json = (value: unknown, indent = '') => JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)

const curl: Language = {
  key: 'curl',
  name: 'curl',
  file: 'call.sh',
  write: ({ method, url, body }) =>
    [
      `curl --fail-with-body ${method === 'GET' ? '' : `-X ${method} `}"${url}"`,
      '-H "Authorization: ApiKey-v1 $HERALD_KEY"',
      ...(body === undefined
        ? []
        : ['-H "Content-Type: application/json"', `-d '${json(body).replaceAll("'", "'\\''")}'`]),
    ].join(' \\\n  '),
}

/** Of the program in the example. */
const ENVIRONMENT = 'env'

const node: Language = {
  key: 'node',
  name: 'Node',
  file: 'call.mjs',
  write: ({ method, url, body }) => `const response = await fetch('${url}', {
  method: '${method}',
  headers: {
    Authorization: \`ApiKey-v1 \${process.${ENVIRONMENT}.HERALD_KEY}\`,${body === undefined ? '' : "\n    'Content-Type': 'application/json',"}
  },${body === undefined ? '' : `\n  body: JSON.stringify(${json(body, '  ')}),`}
})
console.log(response.status, await response.text())`,
}

const python: Language = {
  key: 'python',
  name: 'Python',
  file: 'call.py',
  write: ({ method, url, body }) => `import json
import os
import urllib.request

request = urllib.request.Request(
    "${url}",
    method="${method}",
    headers={
        "Authorization": f"ApiKey-v1 {os.environ['HERALD_KEY']}",${body === undefined ? '' : '\n        "Content-Type": "application/json",'}
    },${body === undefined ? '' : `\n    data=json.dumps(${pythonOf(body, '    ')}).encode(),`}
)
with urllib.request.urlopen(request) as response:
    print(response.status, response.read().decode())`,
}

/** JSON as a Python literal: the words for true, false and null differ. */
function pythonOf(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const inner = `${indent}    `
  const items = Array.isArray(value)
    ? value.map(item => pythonOf(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item, inner)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (items.length === 0) return open + close
  return `${open}\n${items.map(item => `${inner}${item},`).join('\n')}\n${indent}${close}`
}

const php: Language = {
  key: 'php',
  name: 'PHP',
  file: 'call.php',
  write: ({ method, url, body }) => `<?php
${body === undefined ? '' : `$body = <<<'JSON'\n${json(body)}\nJSON;\n`}$call = curl_init('${url}');
curl_setopt_array($call, [
    CURLOPT_CUSTOMREQUEST => '${method}',
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'Authorization: ApiKey-v1 ' . getenv('HERALD_KEY'),${body === undefined ? '' : "\n        'Content-Type: application/json',"}
    ],${body === undefined ? '' : '\n    CURLOPT_POSTFIELDS => $body,'}
]);
$answer = curl_exec($call);
echo curl_getinfo($call, CURLINFO_RESPONSE_CODE), ' ', $answer;`,
}

const CLASSES: Readonly<Record<string, string>> = {
  GET: 'Get',
  POST: 'Post',
  PATCH: 'Patch',
  PUT: 'Put',
  DELETE: 'Delete',
}

const ruby: Language = {
  key: 'ruby',
  name: 'Ruby',
  file: 'call.rb',
  write: ({ method, url, body }) => `require 'net/http'

uri = URI('${url}')
request = Net::HTTP::${CLASSES[method]}.new(uri)
request['Authorization'] = "ApiKey-v1 #{ENV.fetch('HERALD_KEY')}"
${body === undefined ? '' : `request['Content-Type'] = 'application/json'\nrequest.body = <<~'JSON'\n  ${json(body, '  ')}\nJSON\n`}response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }
puts "#{response.code} #{response.body}"`,
}

const csharp: Language = {
  key: 'csharp',
  name: 'C#',
  file: 'Program.cs',
  write: ({ method, url, body }) => `using System.Net.Http.Headers;
${body === undefined ? '' : 'using System.Text;\n'}
using var http = new HttpClient();
using var request = new HttpRequestMessage(HttpMethod.${CLASSES[method]}, "${url}");
request.Headers.Authorization =
    new AuthenticationHeaderValue("ApiKey-v1", Environment.GetEnvironmentVariable("HERALD_KEY"));
${body === undefined ? '' : `var body = """\n    ${json(body, '    ')}\n    """;\nrequest.Content = new StringContent(body, Encoding.UTF8, "application/json");\n`}using var response = await http.SendAsync(request);
Console.WriteLine($"{(int)response.StatusCode} {await response.Content.ReadAsStringAsync()}");`,
}

const java: Language = {
  key: 'java',
  name: 'Java',
  file: 'Call.java',
  write: ({ method, url, body }) => `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

public class Call {
    public static void main(String[] arguments) throws Exception {
${body === undefined ? '' : `        var body = """\n            ${json(body, '            ').replaceAll('\\', '\\\\')}\n            """;\n`}        var request = HttpRequest.newBuilder(URI.create("${url}"))
            .header("Authorization", "ApiKey-v1 " + System.getenv("HERALD_KEY"))
${body === undefined ? '' : '            .header("Content-Type", "application/json")\n'}            .method("${method}", HttpRequest.BodyPublishers.${body === undefined ? 'noBody()' : 'ofString(body)'})
            .build();
        var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}`,
}

export const LANGUAGES: readonly Language[] = [curl, node, python, php, ruby, csharp, java]
