# Sourced by ./demo and benches/load: what they need and this machine lacks, and a PostgreSQL for as long as they run.
#
#     start_server [NAME=VALUE…]   server settings; exports DATABASE_URL. Where that is set already nothing is started.
#     sql [ARGUMENT…]              psql on that server
#     stop_server                  ends it and removes its data; for the caller's EXIT trap
#
# Local binaries (initdb) where there are some, else a container where a Docker engine runs, else Debian's `postgresql`
# package is installed. The server listens on 127.0.0.1 with a password of its own; its data are in memory where there is
# room.

server_kind=
server_data=
server_bin=
server_container=

say() { printf '\n== %s\n' "$*"; }
has() { command -v "$1" >/dev/null 2>&1; }
fail() { echo "$0: $*" >&2 && exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Debian packages; their lists may never have been fetched, or be out of date.
install_packages() {
    local hint="install $* and run $0 again"
    has apt-get || fail "$hint"
    as_root true 2>/dev/null || fail "neither root nor sudo without a password: $hint (apt-get install $*)"
    say "installing $*"
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    as_root "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null 2>&1 ||
        { as_root "${apt[@]}" update && as_root "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null; } || fail "$hint"
}

need_build_tools() {
    [ -x "$HOME/.cargo/bin/cargo" ] && PATH=$PATH:$HOME/.cargo/bin
    has cargo || fail "no Rust toolchain: see https://rustup.rs"
    # zstd and ring have C parts.
    has cc || install_packages gcc libc6-dev
}

engine_runs() { has docker && docker version >/dev/null 2>&1; }

# The newest PostgreSQL on this machine.
find_local() {
    local initdb
    for initdb in $(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -rV) "$(command -v initdb)"; do
        [ ! -x "$initdb" ] || { server_bin=$(dirname "$initdb") && return 0; }
    done
    return 1
}

install_postgresql() {
    local conf=/etc/postgresql-common/createcluster.d/pgsluice.conf
    # Without the cluster, and its server on port 5432, that the package makes by itself.
    install_packages postgresql-common
    as_root mkdir -p "${conf%/*}" && echo 'create_main_cluster = false' | as_root tee "$conf" >/dev/null
    install_packages postgresql
    as_root rm -f "$conf"
    find_local || fail "the package postgresql brought no initdb"
}

free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM))
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port" && return; }
    done
}

# Servers refuse to run as root.
as_server_user() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid postgres --regid postgres --init-groups -- "$@")
    else
        (cd / && "$@")
    fi
}

start_local() {
    local port=$1 password=$2 parent=${TMPDIR:-/tmp} options setting
    shift 2
    [ "$(id -u)" != 0 ] || id postgres >/dev/null 2>&1 || as_root useradd --system postgres
    [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')" -gt $((4 << 20)) ] 2>/dev/null && parent=/dev/shm
    server_kind=local
    server_data=$(mktemp -d "$parent/pgsluice-server.XXXXXX")
    echo "$password" >"$server_data.password"
    [ "$(id -u)" != 0 ] || chown postgres "$server_data" "$server_data.password"
    as_server_user "$server_bin/initdb" --no-sync --username=postgres --encoding=UTF8 --locale=C.UTF-8 \
        --auth=scram-sha-256 --pwfile="$server_data.password" -D "$server_data" >/dev/null
    rm -f "$server_data.password"
    options="-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=''"
    for setting; do options+=" -c $setting"; done
    as_server_user "$server_bin/pg_ctl" -D "$server_data" -l "$server_data/log" -o "$options" -w start >/dev/null || {
        cat "$server_data/log" >&2
        fail "the server did not start"
    }
    server_name="$("$server_bin/postgres" --version | sed -E 's/^postgres \(PostgreSQL\) ([^ ]+).*/PostgreSQL \1/') from $server_bin"
}

start_container() {
    local port=$1 password=$2 image found= settings=() setting
    shift 2
    for image in {pgsluice-postgres,postgres}:{17,18,15}; do
        docker image inspect "$image" >/dev/null 2>&1 && found=$image && break
    done
    if [ -z "$found" ]; then
        found=postgres:17
        docker pull --quiet postgres:17 >/dev/null 2>&1 ||
            { "$(dirname "${BASH_SOURCE[0]}")/images/build" 17 && found=pgsluice-postgres:17; }
    fi
    for setting; do settings+=(-c "$setting"); done
    server_kind=container
    server_container=pgsluice-server-$$-$port
    docker run -d --name "$server_container" -e POSTGRES_PASSWORD="$password" -p "127.0.0.1:$port:5432" --shm-size 256m \
        "$found" ${settings[@]+"${settings[@]}"} >/dev/null
    server_name="$found in a container"
    local tries=300
    # The image's first server, for its set-up, listens on no address.
    until docker exec "$server_container" pg_isready -q -h 127.0.0.1 -U postgres 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { docker logs "$server_container" >&2; fail "the server did not start"; }
        sleep 0.2
    done
}

start_server() {
    local port password
    if [ -n "${DATABASE_URL:-}" ]; then
        server_kind=given
        server_name="the server of DATABASE_URL"
        has psql || find_local || install_packages postgresql-client
    else
        port=$(free_port)
        password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
        if find_local; then
            start_local "$port" "$password" "$@"
        elif engine_runs; then
            start_container "$port" "$password" "$@"
        else
            install_postgresql
            start_local "$port" "$password" "$@"
        fi
        export DATABASE_URL="postgres://postgres:$password@127.0.0.1:$port/postgres"
    fi
}

sql() {
    if [ -n "$server_bin" ]; then
        "$server_bin/psql" -X -v ON_ERROR_STOP=1 -d "$DATABASE_URL" "$@"
    elif has psql; then
        psql -X -v ON_ERROR_STOP=1 -d "$DATABASE_URL" "$@"
    else
        docker exec -i "$server_container" psql -X -v ON_ERROR_STOP=1 -U postgres -d postgres "$@"
    fi
}

stop_server() {
    case $server_kind in
    local)
        as_server_user "$server_bin/pg_ctl" -D "$server_data" -m immediate -w stop >/dev/null 2>&1 || true
        rm -rf "$server_data" "$server_data.password"
        ;;
    container) docker rm -f -v "$server_container" >/dev/null 2>&1 || true ;;
    esac
    server_kind=
}
