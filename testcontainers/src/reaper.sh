# Ends a test server when no process uses it any more. $1 is the server's directory; its file `reap` names the engine, the
# container or data directory, and the seconds to wait for a next user. Users hold a shared lock on `users.lock`, which the
# kernel releases however they end.
trap '' HUP INT
cd / || exit 1
exec 7>>"$1/start.lock" 8>>"$1/reaper.lock" 9>>"$1/users.lock" || exit 1
if ! flock -w 1 8; then
    echo watched
    exit 0
fi
{ read -r engine && read -r target && read -r linger; } <"$1/reap"
echo watching
exec >/dev/null 2>&1 </dev/null

end_container() {
    # A start that was killed may have asked the engine for a container that is not there yet.
    docker inspect "$target" || sleep 3
    docker rm -f -v "$target"
}

end_local() {
    pid=$(head -n 1 "$target/postmaster.pid")
    # The number may belong to another process by now.
    if [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF -- "$target"; then
        kill -QUIT "$pid"
        kill -CONT "$pid"
        tries=50
        while [ -e "$target/postmaster.pid" ] && kill -0 "$pid" && [ $tries -gt 0 ]; do
            sleep 0.1
            tries=$((tries - 1))
        done
        kill -KILL "$pid"
    fi
    rm -rf "$target" "$target.password"
}

# Commands do not get the reaper's own lock: they may outlive it, and then nobody watches.
while :; do
    flock -x 9 8>&-
    flock -u 9
    sleep "$linger" 7>&- 8>&- 9>&-
    flock -x 7 8>&-
    if flock -n -x 9; then
        case $engine in
        docker) end_container ;;
        local) end_local ;;
        esac
        rm -rf "$1"
        exit 0
    fi
    flock -u 7
done
